import { openInferredTool } from "@orangebox/recorder"
import { describe, expect, test } from "vitest"
import {
  actionsOf,
  type CheckedConstraint,
  classifier,
  decisionsOf,
  evaluateRun,
  runReport,
  verdictOf,
} from "../src/index.js"
import { recordInMemory } from "./recorded.js"

const RULES: readonly CheckedConstraint[] = [
  { id: "src", type: "scope", rule: "paths.only src/**" },
  { id: "push", type: "safety", rule: 'commands.deny "git push" sudo' },
  { id: "tools", type: "other", rule: "tools.deny web_*" },
]

const CALLS = [
  { name: "Edit", args: { file_path: "src/hidden-name.ts", old_string: "a", new_string: "b" } },
  { name: "Write", args: { file_path: "infra/hidden-name.yml", content: "a" } },
  { name: "Bash", args: { command: "npm test" } },
  { name: "Bash", args: { command: "git push origin hidden-name" } },
  { name: "Bash", args: { command: "curl https://hidden-name.example" } },
  { name: "own_tool", args: { target: "hidden-name" } },
]
const TOOLS = { own_tool: { action: "deploy" } } as const

async function recordHashed(options: Parameters<typeof recordInMemory>[0] = {}) {
  const made = recordInMemory({ capture: "hashed", classify: classifier(RULES, {}, { tools: TOOLS }), ...options })
  const run = made.recorder.startRun({ entrypoint: "x", input: "x" })
  for (const call of CALLS) await run.tool(call, () => "done")
  run.complete({ output: "Done." })
  return made
}

describe("[E-03] where no text is kept", () => {
  test("[D-03] every tool call has its action type, taken before its arguments were dropped", async () => {
    const { recorded, sink } = await recordHashed()
    expect(actionsOf(recorded()).actions.map(({ type }) => type)).toEqual([
      ...["edit", "edit", "run_tests", "command", "api_call", "deploy"],
      "message",
    ])
    expect(JSON.stringify(sink.events)).not.toContain("hidden-name")
    expect([...sink.bodies.values()].join()).not.toContain("hidden-name")
  })

  test("the verdict of the rules stands that was reached at capture; a later check is unknown, never a pass", async () => {
    const { recorded } = await recordHashed()
    const later = evaluateRun(actionsOf(recorded()), RULES)
    expect(later.results.map(({ status }) => status)).toEqual(["unknown", "unknown", "pass"])
    const decisions = decisionsOf(recorded(), { evaluation: later })
    const statuses = decisions
      .slice(0, 5)
      .map(({ evaluation }) => [evaluation.alignment.status, evaluation.policy.status])
    expect(statuses).toEqual([
      ["pass", "pass"],
      ["fail", "pass"],
      ["pass", "pass"],
      ["pass", "fail"],
      ["pass", "pass"],
    ])
    expect(verdictOf(later)).toBe("unknown")
    const { summary } = runReport(recorded(), { evaluation: later })
    expect(summary).toMatchObject({ verdict: "fail", alignment: "fail", policy: "fail" })
  })

  test("what an observer of traffic deduces is classified as well", async () => {
    const { recorder, recorded } = recordInMemory({ capture: "hashed", classify: classifier(RULES) })
    const run = recorder.startRun({ entrypoint: "x", input: "x" })
    const argumentText = JSON.stringify({ command: "sudo npm test" })
    openInferredTool(run, { inferredBy: "wire", name: "Bash", callId: "c", argumentText }).end({
      text: "ok",
      status: "success",
    })
    run.complete()
    const [decision] = decisionsOf(recorded())
    expect(decision?.agent_action.action_type).toBe("run_tests")
    expect(decision?.evaluation.policy.status).toBe("fail")
  })

  test("with bodies kept only on a fault the same holds; where text is kept nothing is asked ahead", async () => {
    const spared = await recordHashed({ capture: "redacted", bodies: "on_fault" })
    expect(actionsOf(spared.recorded()).actions[2]?.type).toBe("run_tests")
    const kept = await recordHashed({ capture: "redacted" })
    expect(kept.sink.events.some(({ event_type }) => event_type === "evaluation")).toBe(false)
    expect(JSON.stringify(kept.sink.events)).not.toContain("action_type")
  })

  test("the application's own word stands, and a classifier that throws or talks nonsense says nothing", async () => {
    for (const classify of [
      () => ({ actionType: "a hidden-name" }),
      () => {
        throw new Error("no")
      },
    ]) {
      const { recorder, recorded, sink } = recordInMemory({ capture: "hashed", classify })
      const run = recorder.startRun({ entrypoint: "x", input: "x" })
      await run.tool({ name: "Bash", args: { command: "ls" } }, () => 1)
      await run.tool({ name: "x", args: {}, attributes: { action_type: "deploy" } }, () => 1)
      run.complete()
      expect(actionsOf(recorded()).actions.map(({ type }) => type)).toEqual(["command", "deploy"])
      expect(JSON.stringify(sink.events)).not.toContain("hidden-name")
    }
  })
})
