import { describe, expect, test } from "vitest"
import {
  actionsOf,
  type CheckedConstraint,
  classifier,
  decisionsOf,
  evaluateRun,
  observabilityOf,
  readRun,
  runReport,
  userRequests,
} from "../src/index.js"
import { summaryRows } from "../src/report/format-report.js"
import { recordInMemory } from "./recorded.js"

const RULES: readonly CheckedConstraint[] = [
  { id: "src", type: "scope", rule: "paths.only src/**" },
  { id: "plain", type: "style", rule: "output.no_emoji" },
]
const WISH = { id: "wish", type: "other" as const, rule: "be kind to hidden-customer" }

const request = { model: "claude-x", max_tokens: 9, messages: [{ role: "user", content: "fix the hidden-bug" }] }
const answer = (content: readonly object[]) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-x",
  content,
  stop_reason: "end_turn",
  usage: { input_tokens: 10, output_tokens: 5 },
})

async function record(capture: "hashed" | "redacted") {
  const { recorder, recorded, sink } = recordInMemory({ capture, classify: classifier(RULES) })
  const run = recorder.startRun({ entrypoint: "fix", input: "fix the hidden-bug", constraints: [...RULES, WISH] })
  const commit = { command: "git commit -am 'Mend the hidden-bug'" }
  const edit = { file_path: "src/hidden-name.ts", old_string: "a\n", new_string: "b\nc\n" }
  const asked = [
    { type: "tool_use", id: "t1", name: "Bash", input: commit },
    { type: "tool_use", id: "t2", name: "Edit", input: edit },
  ]
  await run.model({ provider: "anthropic", model: "claude-x", request }, () => answer(asked))
  const printed = "[main 1a2b3c4] Mend the hidden-bug\n 1 file changed\n"
  await run.tool({ name: "Bash", args: commit, callId: "t1" }, () => printed)
  await run.tool({ name: "Edit", args: edit, callId: "t2" }, () => "ok")
  await run.model({ provider: "anthropic", model: "claude-x", request }, () =>
    answer([{ type: "text", text: "Done 🙂" }]),
  )
  run.complete({ output: "Done 🙂" })
  return { recorded: recorded(), sink }
}

describe("[D-08] under hashed capture", () => {
  test("there is no hole where nothing is missing but text, and usage and rules can be read", async () => {
    const { recorded, sink } = await record("hashed")
    expect(observabilityOf(recorded).failures).toEqual([])
    const [first] = decisionsOf(recorded)
    expect(first!.model_output.usage).toMatchObject({ input_tokens: 10, output_tokens: 5 })
    expect(first!.request.constraints.map(({ rule }) => rule)).toEqual([
      "paths.only src/**",
      "output.no_emoji",
      expect.stringMatching(/^hmac:/),
    ])
    expect(JSON.stringify(sink.events) + [...sink.bodies.values()].join()).not.toContain("hidden")
  })

  test("edits and commits have artifacts, of which figures and the name of the commit are kept", async () => {
    const { recorded } = await record("hashed")
    const artifacts = decisionsOf(recorded).flatMap(({ agent_action }) => agent_action.artifacts)
    expect(artifacts.map(({ type, metadata }) => [type, metadata.lines_added, metadata.lines_removed])).toEqual([
      ["command", null, null],
      ["commit", null, null],
      ["file_edit", 2, 1],
    ])
    expect(artifacts[1]!.metadata.commit).toEqual({ sha: "1a2b3c4", message: null })
    expect(runReport(recorded).summary).toMatchObject({ files_changed: 1, lines_added: 2, lines_removed: 1 })
  })

  test("rules that need what came out are judged when it comes out", async () => {
    const { recorded } = await record("hashed")
    const statuses = decisionsOf(recorded).map(({ evaluation }) => evaluation.alignment.status)
    expect(statuses).toEqual(["unknown", "pass", "pass", "fail", "fail"])
  })
})

test("[D-08] a commit's artifact carries its sha and its message", async () => {
  const { recorded } = await record("redacted")
  const commits = decisionsOf(recorded).flatMap(({ agent_action }) =>
    agent_action.artifacts.filter(({ type }) => type === "commit"),
  )
  expect(commits.map(({ metadata }) => metadata.commit)).toEqual([{ sha: "1a2b3c4", message: "Mend the hidden-bug" }])
})

test("[D-08] the message a run ends with is one decision, and still its final output", async () => {
  const { recorded } = await record("redacted")
  const { actions } = actionsOf(recorded)
  expect(actions.filter(({ type }) => type === "message")).toMatchObject([{ boundary: "completion", isFinal: true }])
  const { recorder, recorded: other } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "x", input: "x" })
  await run.model({ provider: "other", model: "m", request }, () => ({ text: "draft" }))
  run.complete({ output: "final" })
  expect(actionsOf(other()).actions.map(({ boundary }) => boundary)).toEqual(["completion", "output"])
})

test("[D-08] every parent of a decision is a decision of the same file", async () => {
  for (const capture of ["redacted", "hashed"] as const) {
    const { recorded } = await record(capture)
    const decisions = decisionsOf(recorded)
    const spans = new Set(decisions.map(({ span_id }) => span_id))
    for (const { parent_span_id } of decisions) if (parent_span_id !== null) expect(spans).toContain(parent_span_id)
    expect(decisions.filter(({ parent_span_id }) => parent_span_id !== null).length).toBeGreaterThan(1)
  }
})

test("[D-08] what the user asked is the question in the prompt, not the command line the agent was started with", async () => {
  const { recorder, recorded } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "agent", input: "agent --yolo -p x" })
  const turn = run.child("turn", {}, { kind: "turn" })
  await turn.model({ provider: "anthropic", model: "claude-x", request }, () => answer([{ type: "text", text: "ok" }]))
  turn.end()
  run.decide({ action: "no_op", summary: "done" })
  run.complete()
  expect(decisionsOf(recorded()).map(({ request }) => request.user_request_raw)).toEqual([
    "fix the hidden-bug",
    "fix the hidden-bug",
  ])
  expect(runReport(recorded()).run.request).toBe("fix the hidden-bug")
  expect(userRequests(readRun(recorded()))).toEqual(["fix the hidden-bug"])
})

describe("[D-08] under hashed capture changes are counted as where the text is kept", () => {
  /** One file named in three ways, taken back and changed otherwise; another edit fails. */
  async function recordEdits(capture: "hashed" | "redacted", isClassified: boolean) {
    const rule = { id: "d", type: "other" as const, rule: "diff.max_lines 4" }
    const { recorder, recorded, sink } = recordInMemory({
      capture,
      cwd: "/projects/hidden-repo",
      ...(isClassified && { classify: classifier([]) }),
    })
    const run = recorder.startRun({ entrypoint: "wr", input: "edit", constraints: [rule] })
    const edit = (file_path: string, old_string: string, new_string: string, result: () => string) =>
      run.tool({ name: "Edit", args: { file_path, old_string, new_string } }, result).catch(() => undefined)
    await edit("src/hidden-a.js", "one\n", "one\ntwo\nthree\n", () => "ok")
    await edit("/projects/hidden-repo/src/hidden-a.js", "one\ntwo\nthree\n", "one\n", () => "ok")
    await edit("./src/hidden-a.js", "x", "y", () => "ok")
    await edit("src/hidden-b.js", "zz", "q\nq\nq\nq\n", () => {
      throw new Error("old_string not found")
    })
    run.complete({ output: "done" })
    expect(JSON.stringify(capture === "hashed" ? sink.events : [])).not.toContain("hidden")
    const evaluation = evaluateRun(actionsOf(recorded()), [rule])
    return { ...runReport(recorded(), { evaluation }).summary, text: formatTerminal(recorded()) }
  }
  const formatTerminal = (recorded: Parameters<typeof runReport>[0]): string =>
    summaryRows(runReport(recorded)).find(([name]) => name === "changes")![1]

  test("one file by three names, with its net lines, and no breach that is none", async () => {
    const counted = { files_changed: 1, lines_added: 1, lines_removed: 1, violations: { fail: 0, warn: 0 } }
    expect(await recordEdits("redacted", true)).toMatchObject(counted)
    expect(await recordEdits("hashed", true)).toMatchObject(counted)
  })

  test("without a classifier they are unknown, and not zero", async () => {
    const { text, ...summary } = await recordEdits("hashed", false)
    expect(summary).toMatchObject({ files_changed: null, lines_added: null, lines_removed: null })
    expect(text).toBe("unknown, what its edits changed is not kept; 0 commands")
  })

  test("tests that ran are counted, with the outcome that was seen at capture, else an unknown one", async () => {
    for (const [printed, isClassified, outcome] of [
      ["Exit code 1\n      Tests  1 failed | 3 passed (4)", true, "failed"],
      ["Exit code: 0\n      Tests  4 passed (4)", true, "passed"],
      ["Tests  4 passed (4)", false, "unknown"],
    ] as const) {
      const { recorder, recorded } = recordInMemory({
        capture: "hashed",
        ...(isClassified && { classify: classifier([]) }),
      })
      const run = recorder.startRun({ entrypoint: "t", input: "test" })
      const attributes = { action_type: "run_tests" }
      await run.tool({ name: "Bash", args: { command: "npx vitest run" }, attributes }, () => printed)
      run.complete()
      expect(runReport(recorded()).summary).toMatchObject({ test_runs: 1, last_test_outcome: outcome })
    }
  })

  test("a path that left only a digest breaks no rule about paths: whether it did is unknown", async () => {
    const { recorder, recorded } = recordInMemory({ capture: "hashed", classify: classifier([]) })
    const run = recorder.startRun({ entrypoint: "t", input: "x" })
    await run.tool({ name: "Edit", args: { file_path: "src/a.ts", old_string: "a", new_string: "b" } }, () => "ok")
    run.complete()
    const [paths] = evaluateRun(actionsOf(recorded()), [{ id: "p", type: "scope", rule: "paths.only src/**" }]).results
    expect(paths).toMatchObject({ status: "unknown" })
  })
})

test("[D-08] under hashed capture files of the work tree are told apart by their number, and an answer owns what follows it", async () => {
  const { recorder, recorded, sink } = recordInMemory({ capture: "hashed" })
  const run = recorder.startRun({ entrypoint: "aider", input: "x" })
  await run.model({ provider: "anthropic", model: "claude-x", request }, () =>
    answer([{ type: "text", text: "edits" }]),
  )
  const look = run.child("2 files changed", {}, { kind: "workspace", follows: [] })
  for (const [at, path] of ["src/hidden-a.py", "src/hidden-b.py"].entries()) {
    const id = `workspace/diff/${at + 1}/of/${at + 1}`
    look.artifact({
      id,
      type: "diff",
      summary: `change ${path}`,
      path,
      content: "+x\n",
      linesAdded: 2,
      linesRemoved: 1,
    })
  }
  look.end()
  run.complete()
  expect(runReport(recorded()).summary).toMatchObject({ files_changed: 2, lines_added: 4, lines_removed: 2 })
  expect(decisionsOf(recorded()).map(({ agent_action }) => agent_action.action_type)).toEqual(["edit"])
  expect(JSON.stringify(sink.events)).not.toContain("hidden")
})
