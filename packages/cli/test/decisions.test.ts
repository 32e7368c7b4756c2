import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { homedir, userInfo } from "node:os"
import { join } from "node:path"
import { type CallAhead, type CheckedConstraint, classifier, DecisionEvent, liveGuard } from "@orangebox/decisions"
import { checkPlace } from "@orangebox/reader"
import { Recorder } from "@orangebox/recorder"
import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { hasBrowser, inBrowser, onlyOpened } from "./browser.js"
import { BIN, jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { answerMessage, startModelServer } from "./model-server.js"
import { record } from "./recorded-run.js"

let scratch: Scratch
let data: string
beforeAll(() => {
  scratch = scratchFolder()
  data = join(scratch.path, ".orangebox")
})
afterAll(() => scratch.remove())

const here = (...args: string[]) => orangeboxHere([...args, "--data", data])
const lines = (text: string): DecisionEvent[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as DecisionEvent)

// Made up, and put together here so that nobody takes it for a leak.
const SECRET = `ghp_${"q7Rz2LxVb9TnK4sWm8Yc"}${"H1dPfG6jQe3Ua5No"}`

/** Edits a file it may not, and says so. */
async function recordEdits(): Promise<string> {
  let runId = ""
  await record(data, async (recorder) => {
    const run = recorder.startRun({
      entrypoint: "fix",
      input: "Fix the date test",
      constraints: [{ id: "src-only", type: "scope", rule: "paths.only src/**" }],
    })
    runId = run.runId
    const edit = (path: string) => ({ name: "Edit", args: { file_path: path, old_string: "a", new_string: "b" } })
    await run.tool(edit("src/date.ts"), () => "ok")
    await run.tool(edit("infra/ci.yml"), () => "ok")
    run.decide({ action: "no_op", summary: "the tests are left alone" })
    run.complete({ output: "Done." })
  })
  return runId
}

describe("orangebox decisions", () => {
  test("[D-06] --jsonl is one valid DecisionEvent a line, the same ids on every reading", async () => {
    const runId = await recordEdits()
    const first = await orangebox(["decisions", runId, "--jsonl"], { cwd: scratch.path })
    expect(first.exitCode).toBe(0)
    const decisions = lines(first.stdout)
    for (const decision of decisions) expect(DecisionEvent.safeParse(decision).error).toBeUndefined()
    expect(decisions.map(({ agent_action }) => agent_action.action_type)).toEqual(["edit", "edit", "no_op", "message"])
    expect(decisions.map(({ evaluation }) => evaluation.alignment.status)).toEqual([
      "pass",
      "fail",
      "unknown",
      "unknown",
    ])
    expect((await orangebox(["decisions", runId, "--jsonl"], { cwd: scratch.path })).stdout).toBe(first.stdout)
  })

  test("[D-06] --otel is OTLP/JSON log records that carry the trace and the span of their action", async () => {
    const runId = await recordEdits()
    const decisions = lines((await here("decisions", runId, "--jsonl")).stdout)
    const { resourceLogs } = jsonOf<{
      resourceLogs: { scopeLogs: { logRecords: { traceId: string; spanId: string; severityText: string }[] }[] }[]
    }>(await here("decisions", runId, "--otel"))
    const records = resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords))
    expect(records.map(({ traceId, spanId }) => [traceId, spanId])).toEqual(
      decisions.map(({ trace_id, span_id }) => [trace_id, span_id]),
    )
    expect(records.map(({ severityText }) => severityText)).toEqual(["INFO", "ERROR", "INFO", "INFO"])
  })

  test("an address of a step shows only its decisions, and says how many there are in all", async () => {
    const runId = await recordEdits()
    const { decisions, total } = jsonOf<{ decisions: DecisionEvent[]; total: number }>(
      await here("decisions", `${runId}#3`, "--json"),
    )
    expect([decisions.length, total]).toEqual([1, 4])
    expect((await here("decisions", `${runId}#3`)).stdout).toContain("1 of 4 decisions")
    expect((await here("decisions", runId, "--json", "--jsonl")).exitCode).toBe(2)
  })
})

describe("orangebox override", () => {
  test("[E-04] a person's word is kept with name and reason, beside a run that stays what it was", async () => {
    const runId = await recordEdits()
    const digest = /sha256:\w{64}/.exec((await here("show", runId)).stdout)![0]
    const said = await orangebox(
      ["override", runId, "--verdict", "pass", "--reason", "agreed with ops\nsee the ticket", "--author", "ann"],
      { cwd: scratch.path },
    )
    expect(said.exitCode).toBe(0)
    await here("override", `${runId}#3`, "--verdict", "warn", "--reason", "ugly, but right", "--author", "bob")

    const verified = await here("verify", runId, "--digest", digest)
    expect(verified).toMatchObject({ exitCode: 0 })
    const report = jsonOf<{ summary: { verdict: string }; overrides: object[]; timeline: object[] }>(
      await here("report", runId, "--json"),
    )
    expect(report.summary.verdict).toBe("pass")
    expect(report.overrides).toMatchObject([
      { author: "ann", verdict: "pass", reason: "agreed with ops\nsee the ticket" },
      { author: "bob", verdict: "warn", reason: "ugly, but right" },
    ])
    expect(report.timeline).toContainEqual(
      expect.objectContaining({ step_no: 3, action_type: "edit", verdict: "warn" }),
    )
    const decisions = lines((await here("decisions", runId, "--jsonl")).stdout)
    expect(decisions.filter(({ agent_action }) => agent_action.action_type === "override")).toHaveLength(2)
    for (const decision of decisions) expect(DecisionEvent.safeParse(decision).error).toBeUndefined()
  })

  test("[E-04] the gate follows an override only when it is told to, for an agent can write one too", async () => {
    const runId = await recordEdits()
    await here("override", runId, "--verdict", "pass", "--reason", "fine", "--author", "ann")
    const closed = await here("check", runId)
    expect(closed.exitCode).toBe(1)
    expect(closed.stdout).toContain('"ann" said pass: "fine"')
    expect((await here("check", runId, "--accept-overrides")).exitCode).toBe(0)
    await here("override", runId, "--verdict", "fail", "--reason", "on second thought", "--author", "ann")
    expect((await here("check", runId, "--accept-overrides", "--rule", "steps.max 99")).exitCode).toBe(1)
  })

  test("[E-04] a run that goes on can be spoken about, and its own end is not in the way", async () => {
    const recorder = Recorder.open({ app: "fixer", folder: data })
    try {
      const run = recorder.startRun({ entrypoint: "live", input: "x" })
      await run.tool({ name: "Bash", args: { command: "ls" } }, () => "a b")
      expect((await here("override", run.runId, "--verdict", "fail", "--reason", "stop it")).exitCode).toBe(0)
      run.complete({ output: "Done." })
      const report = jsonOf<{ run: object; overrides: object[] }>(await here("report", run.runId, "--json"))
      expect(report.run).toMatchObject({ status: "completed" })
      expect(report.overrides).toMatchObject([{ verdict: "fail", reason: "stop it" }])
      expect((await here("verify", run.runId)).exitCode).toBe(0)
    } finally {
      recorder.close()
    }
  })

  test("[X-04] a secret in a reason is masked before it is written", async () => {
    const runId = await recordEdits()
    await here("override", runId, "--verdict", "warn", "--reason", `it printed ${SECRET}`, "--author", "ann")
    const { stdout } = await here("report", runId, "--json")
    expect(stdout).toContain("it printed ghp")
    expect(stdout).not.toContain(SECRET)
  })

  test.each([
    [["--verdict", "maybe", "--reason", "x"], /Allowed choices are pass, warn, fail/],
    [["--reason", "x"], /required option '--verdict/],
    [["--verdict", "pass", "--reason", " "], /--reason is empty/],
    [["--verdict", "pass", "--reason", "x", "--author", ""], /--author is a name/],
  ])("bad input %s", async (args, words) => {
    const finished = await here("override", "last", ...args)
    expect(finished.exitCode).toBe(2)
    expect(finished.stderr).toMatch(words)
  })
})

describe("[E-03] a later evaluation on record", () => {
  interface OnRecord {
    readonly event_id: string
    readonly verdict: string
    readonly rules_hash: string
    readonly differs: boolean
  }
  const onRecord = async (runId: string, ...rules: string[]): Promise<readonly OnRecord[]> =>
    jsonOf<{ recorded_evaluations: OnRecord[] }>(await here("report", runId, "--json", ...rules)).recorded_evaluations
  const recorded = ({ stdout }: { stdout: string }) =>
    (JSON.parse(stdout) as { runs: { recorded: { event_id: string; is_new: boolean } | null }[] }).runs[0]!.recorded

  test("the gate leaves its verdict beside the run, with rules, author and version; the run stays what it was", async () => {
    const runId = await recordEdits()
    const digest = /sha256:\w{64}/.exec((await here("show", runId)).stdout)![0]
    const checked = await orangebox(["check", runId], { cwd: scratch.path })
    expect(checked.exitCode).toBe(1)
    expect(checked.stdout).toContain("now on record")
    expect((await here("verify", runId, "--digest", digest)).exitCode).toBe(0)
    expect(await onRecord(runId)).toMatchObject([
      {
        evaluator: "orangebox.checks",
        author: userInfo().username,
        tool_version: expect.stringMatching(/^\d+\.\d+/),
        rules_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        is_open: false,
        verdict: "fail",
        differs: false,
      },
    ])
    expect((await here("show", runId)).stdout).toContain("evaluation by orangebox.checks")
  })

  test("the same rules with the same result are kept once, in another process too; another result is kept again", async () => {
    const runId = await recordEdits()
    const first = recorded(await here("check", runId, "--json"))
    expect(first).toMatchObject({ is_new: true })
    const again = recorded(await orangebox(["check", runId, "--json"], { cwd: scratch.path }))
    expect(again).toMatchObject({ event_id: first!.event_id, is_new: false })
    expect(await onRecord(runId)).toHaveLength(1)

    const rules = ["--rule", "steps.max 99", "--record"]
    expect(recorded(await here("check", runId, "--json", ...rules))).toMatchObject({ is_new: true })
    // Two gates with rules of their own do not take turns.
    expect(recorded(await here("check", runId, "--json"))).toMatchObject({ event_id: first!.event_id, is_new: false })
    expect(recorded(await here("check", runId, "--json", ...rules))).toMatchObject({ is_new: false })
    expect((await onRecord(runId)).map(({ verdict }) => verdict)).toEqual(["fail", "pass"])
  })

  test("a question with typed rules is kept only when that is asked for, and --no-record keeps nothing", async () => {
    const runId = await recordEdits()
    expect(recorded(await here("check", runId, "--json", "--rule", "steps.max 99"))).toBe(null)
    expect(recorded(await here("check", runId, "--json", "--no-record"))).toBe(null)
    await here("check", runId, "--rule", "pths.only x", "--record")
    expect(await onRecord(runId)).toEqual([])
  })

  test("report and decisions show what is on record where they find something else now", async () => {
    const runId = await recordEdits()
    await here("check", runId)
    const same = await here("report", runId)
    expect(same.stdout).not.toContain("on record")
    const other = ["--rule", "steps.max 99"]
    expect((await here("report", runId, ...other)).stdout).toMatch(
      /^✓ pass[\s\S]*on record +fail by .*orangebox\.checks/,
    )
    expect((await here("report", runId, "--md", ...other)).stdout).toMatch(/on record \| fail by/)
    const listed = await here("decisions", runId, ...other)
    expect(listed.stdout).toMatch(/on record: fail by .*\ncomputed now: pass/)
    expect((await here("decisions", runId)).stdout).not.toContain("on record")
  })

  test("the verdict stands when the text is gone: pruned bodies make a later check unknown, not the report", async () => {
    const own = join(scratch.path, "pruned", ".orangebox")
    const at = (...args: string[]) => orangeboxHere([...args, "--data", own])
    await record(own, async (recorder) => {
      const run = recorder.startRun({
        entrypoint: "fix",
        input: "Fix it",
        constraints: [{ id: "src-only", type: "scope", rule: "paths.only src/**" }],
      })
      const args = { file_path: "infra/ci.yml", old_string: "a", new_string: "b" }
      await run.tool({ name: "Edit", args }, () => "ok")
      run.complete({ output: "Done." })
    })
    expect((await at("check", "last")).exitCode).toBe(1)
    expect((await at("prune", "--max-body-bytes", "0")).exitCode).toBe(0)
    const later = jsonOf<{ runs: { verdict: string }[] }>(await at("check", "last", "--json"))
    expect(later.runs[0]!.verdict).toBe("unknown")
    const report = jsonOf<{ summary: object; violations: object[] }>(await at("report", "last", "--json"))
    expect(report.summary).toMatchObject({ verdict: "fail", alignment: "fail" })
  })

  test("a folder nobody can write into is checked all the same, and says that the verdict is not kept", async (context) => {
    const runId = await recordEdits()
    await here("runs")
    const call = (args: string) => `${process.execPath} ${BIN} check ${runId} ${args} --data ${data}`
    const readOnly = `mount --bind ${data}/journal ${data}/journal && mount -o remount,ro,bind ${data}/journal`
    const inside = (args: string) =>
      spawnSync("unshare", ["-m", "sh", "-c", `${readOnly} || exit 77; ${call(args)}`], { encoding: "utf8" })
    const finished = inside("")
    if (finished.error || finished.status === 77) return context.skip("mounting needs root")
    expect(finished.status).toBe(1)
    expect(finished.stderr).toMatch(/the verdict is not kept beside the run: .*(EROFS|read-only)/)
    expect(inside("--record").status).toBe(3)
  })
})

describe("live and later", () => {
  const RULES: readonly CheckedConstraint[] = [
    { id: "src", type: "scope", rule: "paths.only src/** !src/generated/**" },
    { id: "infra", type: "scope", rule: "paths.deny infra/** **/*.pem access=any" },
    { id: "push", type: "safety", rule: 'commands.deny "git push" "rm -rf" sudo' },
    { id: "net", type: "safety", rule: "network.deny allow=api.github.com" },
    { id: "secrets", type: "safety", rule: "secrets.none" },
    { id: "small", type: "other", rule: "diff.max_lines 3 per=action" },
    { id: "tools", type: "other", rule: "tools.deny web_* delete_*" },
  ]
  const path = fc.constantFrom(
    "src/a.ts",
    "src/../infra/x",
    "src/generated/y",
    "/etc/passwd",
    "~/.ssh/k.pem",
    "link/in",
    "",
    "İ",
  )
  const command = fc.constantFrom(
    "git push",
    "g''it push origin",
    "sh -c 'sudo ls'",
    "echo a > infra/b",
    "curl https://evil.example/x",
    "$CMD now",
    "cat src/a.ts | tee link/c",
    "rm -r -f build",
    `export K=${SECRET}`,
    "npm test",
  )
  const text = fc.oneof(fc.string({ unit: "grapheme" }), fc.constant("a\nb\nc\nd\ne"))
  const call = fc.oneof(
    fc.record({
      name: fc.constantFrom("Bash", "shell", "exec_command"),
      args: fc.record({ command: fc.array(command, { minLength: 1, maxLength: 3 }).map((all) => all.join(" && ")) }),
    }),
    fc.record({ name: fc.constant("Edit"), args: fc.record({ file_path: path, old_string: text, new_string: text }) }),
    fc.record({ name: fc.constantFrom("Write", "read_file"), args: fc.record({ path, content: text }) }),
    fc.record({ name: fc.constantFrom("web_fetch", "delete_all", "ask"), args: fc.jsonValue() }),
  )

  test("[E-03] what a guard says before a call is what another process says later, from the store, of every call", async () => {
    mkdirSync(join(scratch.path, "infra"), { recursive: true })
    const rules = join(scratch.path, "rules.json")
    writeFileSync(rules, JSON.stringify(RULES))
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 60, maxLength: 120 }), async (calls) => {
        const live = new Map<string, { said: Summary; isMasked: boolean }>()
        const judge = liveGuard(RULES, checkPlace({ data, root: scratch.path }), {
          onDecision: ({ step, args }, { evaluation }) =>
            live.set(step.id, {
              said: summaryOf(evaluation.evaluation),
              isMasked: JSON.stringify(args).includes(SECRET),
            }),
        })
        // It listens and lets everything pass, so that there is something to compare.
        const guard = (ahead: CallAhead) => void judge(ahead)
        const recorder = Recorder.open({ app: "fixer", folder: data, cwd: scratch.path, guard })
        const run = recorder.startRun({ entrypoint: "x", input: "x" })
        for (const { name, args } of calls) await run.tool({ name, args }, () => "done")
        run.complete()
        recorder.close()
        const args = ["decisions", run.runId, "--jsonl", "--rules", rules, "--root", scratch.path]
        const later = lines((await orangebox(args, { cwd: scratch.path, env: { HOME: homedir() } })).stdout)
        const seen = new Map(later.map(({ span_id, evaluation }) => [span_id, summaryOf(evaluation)]))
        expect(live.size).toBe(calls.length)
        for (const [stepId, { said, isMasked }] of live) {
          if (isMasked) mayOnlyKnowLess(said, seen.get(stepId)!)
          else expect(seen.get(stepId)).toEqual(said)
        }
      }),
      { numRuns: 2, endOnFailure: true },
    )
  })

  const summaryOf = ({ alignment, quality, policy }: DecisionEvent["evaluation"]) => ({
    statuses: [alignment.status, quality.status, policy.status],
    score: alignment.score,
    violations: alignment.violations.map(({ id, severity }) => `${id} ${severity}`),
    checks: policy.checks.map(({ id, status }) => `${id} ${status}`),
  })
  type Summary = ReturnType<typeof summaryOf>

  /** Where a mask stands for a secret, what else it took nobody can tell: every breach that was seen stands, and a pass may be unknown. */
  function mayOnlyKnowLess(said: Summary, later: Summary): void {
    expect(later.violations).toEqual(said.violations)
    for (const [at, status] of later.statuses.entries()) expect([said.statuses[at], "unknown"]).toContain(status)
  }
})

describe("[E-03] hashed capture", () => {
  const RULES: readonly CheckedConstraint[] = [
    { id: "src", type: "scope", rule: "paths.only src/**" },
    { id: "push", type: "safety", rule: 'commands.deny "git push"' },
  ]

  test("what was found at capture is told by another process later, where a check by itself is unknown", async () => {
    const folder = scratchFolder()
    try {
      const own = join(folder.path, ".orangebox")
      const rules = join(folder.path, "rules.json")
      writeFileSync(rules, JSON.stringify(RULES))
      const classify = classifier(RULES, checkPlace({ data: own }))
      const recorder = Recorder.open({ app: "fixer", folder: own, cwd: folder.path, capture: "hashed", classify })
      const run = recorder.startRun({ entrypoint: "fix", input: "x" })
      await run.tool({ name: "Edit", args: { file_path: "src/a.ts", old_string: "a", new_string: "b" } }, () => "ok")
      await run.tool({ name: "Bash", args: { command: "echo x > infra/y" } }, () => "ok")
      await run.tool({ name: "Bash", args: { command: "git push" } }, () => "ok")
      run.complete({ output: "Done." })
      recorder.close()

      const call = (...args: string[]) => orangebox([...args, "--rules", rules], { cwd: folder.path })
      const decisions = lines((await call("decisions", "last", "--jsonl")).stdout)
      expect(
        decisions.map(({ agent_action, evaluation }) =>
          [agent_action.action_type, evaluation.alignment.status, evaluation.policy.status].join(" "),
        ),
      ).toEqual(["edit pass pass", "command fail pass", "command pass fail", "message unknown unknown"])

      const checked = jsonOf<{ runs: { verdict: string; results: { status: string; unknown: string }[] }[] }>(
        await call("check", "last", "--json", "--record"),
      )
      expect(checked.runs[0]!.results.map(({ status }) => status)).toEqual(["unknown", "unknown"])
      expect(checked.runs[0]!.results[0]!.unknown).toContain("not kept")
      // Also after the later check, which knew nothing, went on record.
      const report = jsonOf<{ summary: object }>(await call("report", "last", "--json"))
      expect(report.summary).toMatchObject({ verdict: "fail", alignment: "fail", policy: "fail" })
    } finally {
      folder.remove()
    }
  })
})

describe("[E-03] orangebox run --capture hashed", () => {
  const AGENT = `
    const ask = async (messages) => {
      const body = JSON.stringify({ model: "claude-x", max_tokens: 9, messages })
      const headers = { "content-type": "application/json" }
      return (await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", { method: "POST", headers, body })).json()
    }
    const asked = [{ role: "user", content: "publish it" }]
    const reply = await ask(asked)
    const results = reply.content.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "done" }))
    await ask([...asked, { role: "assistant", content: reply.content }, { role: "user", content: results }])
  `
  const tools = [
    { type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "git push origin main" } },
    { type: "tool_use", id: "toolu_2", name: "Write", input: { file_path: "src/a.ts", content: "x" } },
  ]

  test("an agent nobody instrumented leaves the kind of each action and the verdict of the configured rules, and no text", async () => {
    let answers = 0
    const server = await startModelServer((_, response) =>
      answerMessage(response, { content: answers++ === 0 ? tools : [{ type: "text", text: "ok" }] }),
    )
    const folder = scratchFolder()
    try {
      const checks = [
        { id: "push", type: "safety", rule: 'commands.deny "git push"' },
        { id: "src", type: "scope", rule: "paths.only src/**" },
      ]
      writeFileSync(join(folder.path, "orangebox.config.json"), JSON.stringify({ checks }))
      const env = {
        ANTHROPIC_BASE_URL: server.origin,
        ORANGEBOX_HOME: join(folder.path, ".orangebox"),
      }
      const call = (...args: string[]) => orangebox(args, { cwd: folder.path, env })
      const agent = [process.execPath, "--input-type=module", "-e", AGENT]
      expect((await call("run", "--capture", "hashed", "--", ...agent)).exitCode).toBe(0)
      const decisions = lines((await call("decisions", "last", "--jsonl")).stdout)
      const ofTools = decisions.filter(({ agent_action }) => agent_action.tool_results.length > 0)
      expect(
        ofTools.map(({ agent_action, evaluation }) => [agent_action.action_type, evaluation.policy.status]),
      ).toEqual([
        ["command", "fail"],
        ["edit", "pass"],
      ])
      expect(JSON.stringify(ofTools)).not.toContain("src/a.ts")
      const checked = jsonOf<{ runs: { verdict: string }[] }>(await call("check", "last", "--json"))
      expect(checked.runs[0]!.verdict).toBe("unknown")
      const { summary } = jsonOf<{ summary: object }>(await call("report", "last", "--json"))
      expect(summary).toMatchObject({ verdict: "fail", policy: "fail" })
    } finally {
      await server.close()
      folder.remove()
    }
  })
})

describe("orangebox report", () => {
  const HOSTILE =
    "</pre></style><script>window.owned=1;fetch('http://127.0.0.1:9/')</script><img src=http://127.0.0.1:9/x onerror=window.owned=1>" +
    "<svg onload=window.owned=1><iframe srcdoc='<script>top.owned=1</script>'></iframe><a href='javascript:owned=1'>x</a>" +
    "\u001b[2J\u001b]0;owned\u0007\u202egnp.exe\u2066\u200b <!-- --> &lt;b&gt; <meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>"
  let runId = ""
  beforeAll(async () => {
    await record(
      data,
      async (recorder) => {
        const run = recorder.startRun({
          entrypoint: `fix${HOSTILE}`,
          input: `Fix it ${HOSTILE}`,
          constraints: [{ id: `c${HOSTILE}`, type: "scope", rule: "paths.only src/**" }],
        })
        runId = run.runId
        const edit = {
          file_path: `infra/${HOSTILE}`,
          old_string: HOSTILE,
          new_string: `${HOSTILE}\n${"x".repeat(2_000_000)}`,
        }
        await run.tool({ name: "Edit", args: edit }, () => HOSTILE)
        await run.tool({ name: "Bash", args: { command: `echo '${HOSTILE}' && npm test` } }, () => HOSTILE)
        await run.tool({ name: HOSTILE, args: { HOSTILE } }, () => HOSTILE)
        run.complete({ output: `🎉 ${HOSTILE}` })
      },
      `app${HOSTILE.slice(0, 200)}`,
    )
    await here("override", runId, "--verdict", "fail", "--reason", HOSTILE, "--author", HOSTILE.slice(0, 150))
  })

  test("[E-05] the report has a form for people, programs, reviews and files, and all say the same", async () => {
    const id = await recordEdits()
    const text = await here("report", id)
    expect(text.stdout).toMatch(/^✗ fail/)
    const json = jsonOf<{ summary: { verdict: string; violations: object }; timeline: object[] }>(
      await here("report", id, "--json"),
    )
    expect(json.summary).toMatchObject({ verdict: "fail", violations: { fail: 1, warn: 0 } })
    expect(json.timeline).toHaveLength(4)
    const markdown = (await here("report", id, "--md")).stdout
    expect(markdown).toMatch(/^# /)
    const page = join(scratch.path, "report.html")
    const written = await orangebox(["report", id, "--html", page], { cwd: scratch.path })
    expect(written).toMatchObject({ exitCode: 0, stdout: "" })
    const html = readFileSync(page, "utf8")
    for (const form of [text.stdout, markdown, html]) expect(form).toContain("infra/ci.yml is outside the paths")
    expect(statSync(page).mode & 0o777).toBe(0o600)
    expect((await here("report", id, "--html", page)).exitCode).toBe(2)
    expect((await here("report", id, "--html", page, "--force")).exitCode).toBe(0)
  })

  test.skipIf(!hasBrowser)(
    "[E-05] hostile content is inert in a browser: nothing runs, nothing is asked for, nothing breaks the page (needs Chromium)",
    async () => {
      const path = join(scratch.path, "hostile.html")
      await here("report", runId, "--html", path)
      const deeds = await inBrowser(path, async (page) => {
        expect(await page.locator("h2").allInnerTexts()).toContain("Timeline")
        // The page must be quiet because there is nothing in it, not only because a policy forbids it.
        expect(
          await page.locator("script, img, svg, iframe, a, meta[http-equiv=refresh], [onload], [onerror]").count(),
        ).toBe(0)
        expect(await page.evaluate("window.owned ?? null")).toBe(null)
        expect(await page.evaluate("document.title")).not.toBe("owned")
        expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true)
        expect(await page.evaluate("getComputedStyle(document.querySelector('main')).maxWidth")).toBe("1080px")
        const picture = await page.screenshot()
        expect(picture.length).toBeGreaterThan(10_000)
      })
      expect(deeds).toEqual(onlyOpened(path))
    },
  )
})
