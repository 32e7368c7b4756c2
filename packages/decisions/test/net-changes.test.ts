import type { Run, Step } from "@orangebox/recorder"
import { describe, expect, test } from "vitest"
import { actionsOf, decisionsOf, evaluateRun, observabilityOf, runReport } from "../src/index.js"
import { recordInMemory } from "./recorded.js"

const figures = (recorded: Parameters<typeof runReport>[0]) => {
  const { files_changed, lines_added, lines_removed } = runReport(recorded).summary
  return [files_changed, lines_added, lines_removed]
}
const edit = (run: Run, path: string, before: string, after: string) =>
  run.tool({ name: "Edit", args: { file_path: path, old_string: before, new_string: after } }, () => "ok")

describe("[D-08] changes are counted once, as they are in the end", () => {
  test("one file edited twice is one file with its net lines, by whatever path it was named", async () => {
    const { recorder, recorded } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "agent", input: "x" })
    await edit(run, "/projects/repo/src/a.ts", "one\n", "two\n")
    await edit(run, "src/a.ts", "two\n", "three\nfour\n")
    await edit(run, "./src/a.ts", "four\n", "")
    run.complete()
    expect(figures(recorded())).toEqual([1, 1, 1])
    const [limit] = evaluateRun(actionsOf(recorded()), [{ id: "d", type: "scope", rule: "diff.max_lines 2" }]).results
    expect(limit).toMatchObject({ status: "pass" })
  })

  test("an edit that is taken back is no change", async () => {
    const { recorder, recorded } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "agent", input: "x" })
    await edit(run, "src/a.ts", "one\n", "two\n")
    await edit(run, "src/a.ts", "two\n", "one\n")
    run.complete()
    expect(figures(recorded())).toEqual([0, 0, 0])
  })

  test("a file that is made and then written again has no lines taken away", async () => {
    const { recorder, recorded } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "agent", input: "x" })
    await run.tool({ name: "Write", args: { file_path: "b.ts", content: "1\n2\n" } }, () => "File created: b.ts")
    await run.tool({ name: "Write", args: { file_path: "b.ts", content: "1\n3\n4\n" } }, () => "File updated: b.ts")
    run.complete()
    expect(figures(recorded())).toEqual([1, 3, 0])
  })

  test("an edit that failed changed nothing, and is still judged for what it tried", async () => {
    const { recorder, recorded } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "agent", input: "x" })
    const args = { file_path: "infra/a.tf", old_string: "a\n", new_string: "b\n" }
    await run.tool({ name: "Edit", args }, () => Promise.reject(new Error("String not found"))).catch(() => {})
    run.complete()
    expect(figures(recorded())).toEqual([0, 0, 0])
    const [, action] = [null, ...decisionsOf(recorded())]
    expect(action!.agent_action).toMatchObject({ action_type: "edit", status: "error", artifacts: [] })
    const rules = ["diff.max_lines 0", "paths.only src/**"].map((rule) => ({ id: rule, type: "scope" as const, rule }))
    expect(evaluateRun(actionsOf(recorded()), rules).results.map(({ status }) => status)).toEqual(["pass", "fail"])
  })
})

/** A look at the work tree as `orangebox run` records it. */
function look(run: Run, path: string, lines: readonly number[], net?: readonly number[]): Step {
  const step = run.child("1 file changed", {}, { kind: "workspace", follows: [] })
  step.artifact({
    id: `workspace/diff/${path}/${lines.join()}`,
    type: "diff",
    summary: `change ${path}`,
    path,
    content: `--- a/${path}\n+++ b/${path}\n`,
    linesAdded: lines[0]!,
    linesRemoved: lines[1]!,
    ...(net && { netLinesAdded: net[0]!, netLinesRemoved: net[1]! }),
  })
  step.artifact({
    id: `s/${path}/${lines.join()}`,
    type: "workspace_snapshot",
    summary: "",
    content: { files: { [path]: lines.join() } },
  })
  step.end()
  return step
}

const answer = (run: Run, text: string) =>
  run.model({ provider: "other", model: "m", request: { messages: [{ role: "user", content: "go" }] } }, () => ({
    text,
  }))

describe("[D-08] an agent that carries out answers by itself", () => {
  test("has made the edits that follow them, and nothing went past the recorder", async () => {
    const { recorder, recorded } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "aider", input: "fix it" })
    run.artifact({ id: "s0", type: "workspace_snapshot", summary: "", content: { files: {} } })
    await answer(run, "src/a.py\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n")
    look(run, "src/a.py", [3, 1])
    await answer(run, "once more")
    look(run, "src/a.py", [2, 2], [4, 1])
    run.complete()
    const edits = decisionsOf(recorded()).filter(({ agent_action }) => agent_action.action_type === "edit")
    expect(edits.map(({ agent_action }) => agent_action.artifacts.map(({ metadata }) => metadata.path))).toEqual([
      ["src/a.py"],
      ["src/a.py"],
    ])
    expect(observabilityOf(recorded()).bypasses).toEqual([])
    expect(figures(recorded())).toEqual([1, 4, 1])
    const rule = { id: "p", type: "scope" as const, rule: "paths.only docs/**" }
    expect(evaluateRun(actionsOf(recorded()), [rule]).results[0]!.status).toBe("fail")
  })

  test("a change behind an answer that asked for tools which cannot have made it is still a bypass", async () => {
    const { recorder, recorded } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "agent", input: "x" })
    run.artifact({ id: "s0", type: "workspace_snapshot", summary: "", content: { files: {} } })
    await answer(run, "I read it")
    let id = ""
    await run.tool({ name: "Read", args: { file_path: "a" } }, ({ step }) => {
      id = step.id
      return "text"
    })
    const step = run.child("1 file changed", {}, { kind: "workspace", follows: [{ id }] })
    step.artifact({ id: "s1", type: "workspace_snapshot", summary: "", content: { files: { "b.ts": "1" } } })
    step.end()
    run.complete()
    expect(observabilityOf(recorded()).bypasses).toMatchObject([{ bypass: "workspace_change", certainty: "certain" }])
  })
})

describe("[D-08] the outcome of tests is theirs, not the command line's", () => {
  const outcomeOf = async (command: string, exitCode: number, output = "") => {
    const { recorder, recorded } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "agent", input: "x" })
    await run.tool({ name: "Bash", args: { command } }, () => ({ stdout: output, exit_code: exitCode }))
    run.complete()
    return actionsOf(recorded()).actions.flatMap(({ testRuns }) => testRuns)[0]?.outcome
  }
  test.each([
    ["npm test", 0, "passed"],
    ["npm test", 1, "failed"],
    ["cd web && npm test", 1, "failed"],
    ["bash -lc 'npm test'", 1, "failed"],
    ["npm test && npm run lint", 0, "passed"],
    ["npm test && npm run lint", 1, "unknown"],
    ["npm run build && npm test", 1, "unknown"],
    ["npm test || true", 0, "unknown"],
    ["npm test | tail -5", 0, "unknown"],
    ["npm test; echo done", 0, "unknown"],
    ["(npm test)", 1, "failed"],
    ["if npm test; then echo ok; fi", 0, "unknown"],
    ["git status; npm test", 1, "failed"],
  ])("%s with exit code %i: %s", async (command, exitCode, outcome) => {
    expect(await outcomeOf(command, exitCode)).toBe(outcome)
  })
  test("what the runner prints tells in any case", async () => {
    const printed = " Test Files  1 failed (1)\n      Tests  2 failed | 3 passed (5)"
    expect(await outcomeOf("npx vitest run | tail -5", 0, `${printed}\n`)).toBe("failed")
    expect(
      await outcomeOf("npx vitest run && npm run lint", 1, " Test Files  1 passed (1)\n      Tests  5 passed (5)\n"),
    ).toBe("passed")
  })
})
