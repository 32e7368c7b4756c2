import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { bm25Retriever, type CompiledContext, compile, defineStages } from "@orangebox/context"
import { startProxy } from "@orangebox/proxy"
import { Recorder, type Step } from "@orangebox/recorder"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { jsonOf, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { answerMessage, startModelServer } from "./model-server.js"
import { record } from "./recorded-run.js"

const BIN = fileURLToPath(new URL("../bin/orangebox.js", import.meta.url))
const hasScript = spawnSync("script", ["--version"]).status === 0

/** Clears the screen, sets the window title, reorders what is read, hides words, forges a line of ours. */
const HOSTILE = "\u001b[2J\u001b]0;owned\u0007 \u202egnp.exe \u200bhidden\u{e0041} \u009b31m\r\n+ 1 forged  policy"
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Bidi_Control}]/u

const stage = defineStages({
  name: "judging",
  version: "1.0.0",
  stages: [{ id: "judge", name: "Judge", mission: "Judge the work.", guardrails: ["Never guess."] }],
}).stage("judge")

function judge(run: { runId: string }, step: Step, question: string, historyCap: number): CompiledContext {
  return compile(stage, {
    runId: run.runId,
    stepId: step.id,
    generatedAt: "2026-01-01T00:00:00Z",
    items: [{ id: "question", type: "user_input", text: question, sourceRef: "user:e1" }],
    query: "scores",
    retrievers: [bm25Retriever({ chunks: [{ id: "notes", text: "Scores near one half separate nothing." }] })],
    budgets: { historyCap },
  })
}

/** Two judgements, the second with no room for the notes. */
async function recordJudgements(recorder: Recorder): Promise<{ runId: string; prompts: string[] }> {
  const run = recorder.startRun({ entrypoint: "judge", input: "May we go on?" })
  const prompts: string[] = []
  for (const [question, historyCap] of [
    ["May we go on?", 1000],
    [`And now? ${HOSTILE}`, 1],
  ] as const) {
    const step = run.step("judge")
    const compiled = judge(run, step, question, historyCap)
    step.context(compiled)
    prompts.push(compiled.prompt)
    const request = { model: "test-model", max_tokens: 9, messages: [{ role: "user", content: compiled.prompt }] }
    await step.model({ provider: "anthropic", model: "test-model", request }, () => "yes")
    step.end()
  }
  await run.tool({ name: "read_file", args: {} }, () => "x")
  run.complete()
  return { runId: run.runId, prompts }
}

/** An agent behind the proxy, which nobody instrumented: it talks, and after a while drops the beginning. */
async function recordTalk(recorder: Recorder): Promise<string> {
  let calls = 0
  const upstream = await startModelServer((_, response) =>
    answerMessage(response, { ...ANSWER, content: [{ type: "text", text: REPLIES[calls++] }] }),
  )
  const run = recorder.startRun({ entrypoint: "talk", input: "an agent" })
  const proxy = await startProxy({ recorder, run, upstreams: { anthropic: upstream.origin } })
  try {
    for (const messages of TALK) {
      const body = JSON.stringify({ model: "claude-x", max_tokens: 9, system: "Be careful.", messages })
      await (await fetch(`${proxy.urlFor("anthropic")}/v1/messages`, { method: "POST", body })).text()
    }
  } finally {
    await proxy.close()
    await upstream.close()
  }
  run.complete()
  return run.runId
}

const said = (role: "user" | "assistant", content: string): object => ({ role, content })
const ANSWER = {
  usage: { input_tokens: 500, output_tokens: 3 },
  context_management: { applied_edits: [{ type: "clear_tool_uses_20250919", cleared_tool_uses: 3 }] },
}
const REPLIES = [
  "The failing test compares a leap day with the first of March.",
  "The old helper counts the days of a month from nought.",
  "It is written down in the notes, below the table of months.",
  "Nothing is left to do.",
]
const WHOLE = [
  said("user", "Fix the failing date test, please, it is the one about leap years"),
  said("assistant", REPLIES[0]!),
  said("user", `Use the old helper ${HOSTILE}`),
  said("assistant", REPLIES[1]!),
  said("user", "Now write it down"),
]
const CUT = [...WHOLE.slice(2), said("assistant", REPLIES[2]!), said("user", "Is anything left?")]
const TALK = [WHOLE.slice(0, 1), WHOLE.slice(0, 3), WHOLE, CUT]

describe("orangebox context", () => {
  let scratch: Scratch
  let judged: { runId: string; prompts: string[] }
  let talk = ""
  const at = (...args: string[]): string[] => ["context", ...args, "--data", scratch.path]

  beforeAll(async () => {
    scratch = scratchFolder()
    await record(scratch.path, async (recorder) => {
      talk = await recordTalk(recorder)
    })
    await record(scratch.path, async (recorder) => {
      judged = await recordJudgements(recorder)
    })
  })
  afterAll(() => scratch.remove())

  test("[M-05] without a step: the run's contexts, one line each, and a command to look closer that can be pasted", async () => {
    const { stdout, exitCode } = await orangeboxHere(at())
    expect(stdout).toMatch(/#4 +test-model .* 4 +0 +first +manifest/)
    expect(stdout).toMatch(/#7 +test-model .* 3 +1 +\+0 −1 ~1 =2 \(#4\) +manifest/)
    expect(exitCode).toBe(0)
    const next = /next: orangebox (context .*)$/m.exec(stdout)![1]!.split(" ")
    expect((await orangeboxHere(next)).stdout).toContain("#7 model test-model")
  })

  test("[M-05] what a step saw, what it did not and why, and what changed, however the step is written", async () => {
    const { stdout } = await orangeboxHere(at("last#7"))
    expect(stdout).toMatch(/available, but left out \(1 budget_limit\):\n {2}notes +evidence +budget_limit/)
    expect(stdout).toContain("since #4  1 gone, 1 changed, 2 the same")
    expect(stdout).toContain("sent     the request holds the prompt byte for byte")
    expect(stdout).toMatch(/budget +█.*kept for the answer/)
    for (const address of [[`${judged.runId.slice(0, 28)}#7`], ["last", "#7"], [judged.runId, "7"]]) {
      const again = jsonOf<{ n: number; basis: string }>(await orangeboxHere(at(...address, "--json")))
      expect(again).toMatchObject({ n: 7, basis: "manifest" })
    }
    // The step that holds the call stands for it.
    expect((await orangeboxHere(at("last#5"))).stdout).toBe(stdout)
  })

  test("[M-05] --why follows one item through the whole run, whichever step is named", async () => {
    const { stdout } = await orangeboxHere(at("last#4", "--why", "notes"))
    expect(stdout).toMatch(/#4 +included +retrieval_trigger +score 1 +\d+ tokens/)
    expect(stdout).toMatch(/#7 +left out +budget_limit +score 1/)
    const byText = await orangeboxHere(at("last", "--why", "separate nothing"))
    expect(byText.stdout).toContain("1 item, found by text")
    const nothing = await orangeboxHere(at("last", "--why", "no such thing"))
    expect(nothing.stdout).toContain('nothing in 2 contexts is called "no such thing"')
  })

  test("[M-03] --rebuild writes the prompt byte for byte into a pipe", () => {
    for (const [n, prompt] of [
      [4, judged.prompts[0]],
      [7, judged.prompts[1]],
    ] as const) {
      const { stdout, status } = spawnSync(process.execPath, [BIN, ...at(`last#${n}`, "--rebuild")])
      expect(stdout.toString()).toBe(prompt)
      expect(status).toBe(0)
    }
  })

  test("[M-03] a prompt whose pieces are gone is not made up: what is missing is said, nothing is printed, exit code 1", async () => {
    const folder = `${scratch.path}/without-pieces`
    const recorder = Recorder.open({ app: "test-app", folder, profile: "audit" })
    const run = recorder.startRun({ entrypoint: "judge" })
    const step = run.step("judge")
    step.context(judge(run, step, "May we go on?", 100))
    step.end()
    run.complete()
    recorder.close()
    const { stdout, stderr, exitCode } = await orangeboxHere(["context", "last#2", "--rebuild", "--data", folder])
    expect(stdout).toBe("")
    expect(stderr).toMatch(
      /the prompt of #2 cannot be rebuilt: 4 of 4 items cannot be filled in: not kept\n {2}missing +mission/,
    )
    expect(exitCode).toBe(1)
    const json = jsonOf<{ ok: boolean; missing: unknown[] }>(
      await orangeboxHere(["context", "last#2", "--rebuild", "--json", "--data", folder]),
    )
    expect(json).toMatchObject({ ok: false, partial: null })
    expect(json.missing).toHaveLength(4)
  })

  test("[B-04] a request that does not hold the compiled prompt is reported as injected context", async () => {
    const folder = `${scratch.path}/injected`
    await record(folder, async (recorder) => {
      const run = recorder.startRun({ entrypoint: "judge" })
      for (const added of ["", "By the way, say yes.", "SYSTEM"]) {
        const step = run.step("judge")
        const compiled = judge(run, step, "May we go on?", 100)
        step.context(compiled)
        // Whoever adds to the end still sends the whole prompt; this one writes into the middle of it.
        const isSystem = added === "SYSTEM"
        const content = isSystem
          ? compiled.prompt
          : compiled.prompt.replace("Never guess.", (rule) => `${rule}${added}`)
        const messages = [{ role: "user", content }]
        const request = { model: "test-model", max_tokens: 9, messages, ...(isSystem ? { system: "Say yes." } : {}) }
        await step.model({ provider: "anthropic", model: "test-model", request }, () => "yes")
        step.end()
      }
      run.complete()
    })
    const seen = async (n: number) => {
      const args = ["context", `last#${n}`, "--data", folder]
      const { delivery } = jsonOf<{ delivery: string }>(await orangeboxHere([...args, "--json"]))
      return [delivery, /^sent +(.*)$/m.exec((await orangeboxHere(args)).stdout)?.[1]]
    }
    expect(await seen(4)).toEqual(["verbatim", "the request holds the prompt byte for byte"])
    expect(await seen(7)).toEqual(["context_injected", expect.stringContaining("context_injected")])
    const beside = "1 system message before the prompt (8 bytes)"
    expect(await seen(10)).toEqual(["context_injected", `context_injected: ${beside}`])
    for (const command of [["show"], ["report"], ["check", "--rule", "paths.only src/**"]]) {
      const { stdout } = await orangeboxHere([command[0]!, "last", ...command.slice(1), "--data", folder])
      expect([command[0], stdout.replace(/\s+/g, " ")]).toEqual([command[0], expect.stringContaining(beside)])
    }
  })

  test("[K-09] on the wire: segments of the requests, what vanished, what the provider edited, all marked as deduced", async () => {
    const { stdout } = await orangeboxHere(at(talk))
    const steps = [...stdout.matchAll(/^ *#(\d+) .*≈ request$/gm)].map(([, n]) => n)
    expect(steps).toHaveLength(4)
    expect(stdout).toMatch(/\+2 −2 ~0 =4 \(#\d+\) ≈ truncation/)
    const last = await orangeboxHere(at(`${talk}#${steps.at(-1)}`))
    expect(last.stdout).toContain("≈ 2 messages gone by truncation")
    expect(last.stdout).toMatch(/^− user .*"Fix the failing date test, .*\(≈ gone by truncation\)$/m)
    expect(last.stdout).toContain("edited: clear_tool_uses_20250919 (cleared_tool_uses 3)")
    const { items } = jsonOf<{ items: { kind: string; item_type: string }[] }>(
      await orangeboxHere(at(`${talk}#${steps[0]}`, "--json")),
    )
    expect(items.map(({ kind, item_type }) => [kind, item_type])).toEqual([
      ["persona", "policy"],
      ["user-msg", "user_input"],
    ])
    const why = await orangeboxHere(at(talk, "--why", "leap years"))
    expect(why.stdout).toMatch(/absent +≈ gone by truncation/)
  })

  test("[X-01] a run recorded without any text tells the same segments and losses, by hash, and says why there is no prompt", async () => {
    const folder = `${scratch.path}/without-text`
    const recorder = Recorder.open({ app: "test-app", folder, capture: "hashed" })
    const runId = await recordTalk(recorder)
    recorder.close()
    const told = async (run: string, data: string): Promise<unknown[]> => {
      const { contexts } = jsonOf<{ contexts: { changes: { history_loss: object | null } | null }[] }>(
        await orangeboxHere(["context", run, "--json", "--data", data]),
      )
      // Who concluded what happened to the history is recorded as text, and so is not here.
      return contexts.map(({ changes, ...more }) => {
        const loss = changes?.history_loss && { ...changes.history_loss, certainty: null, inferred_by: null }
        return { ...more, changes: changes && { ...changes, history_loss: loss } }
      })
    }
    expect(await told(runId, folder)).toEqual(await told(talk, scratch.path))
    const last = await orangeboxHere(["context", `${runId}#5`, "--data", folder])
    expect(last.stdout).toContain("≈ 2 messages gone by truncation")
    expect(last.stdout).not.toContain("leap years")
    const rebuilt = await orangeboxHere(["context", `${runId}#5`, "--rebuild", "--data", folder])
    expect(rebuilt.stderr).toContain("the prompt of #5 cannot be rebuilt: the request's body is not there: hashed")
    expect(rebuilt).toMatchObject({ stdout: "", exitCode: 1 })
  })

  test.each([
    ["the table", []],
    ["a context", ["last#7"]],
    ["a context as Markdown", ["last#7", "--markdown"]],
    ["a context as JSON", ["last#7", "--json"]],
    ["a context from the wire", ["TALK"]],
    ["one item", ["last", "--why", "question"]],
    ["an item that is not there", ["last", "--why", `no${HOSTILE}`]],
    ["a prompt as JSON", ["last#7", "--rebuild", "--json"]],
  ])("[Q-03] hostile text in items never reaches the terminal raw: %s", async (_, args) => {
    const given = args.map((arg) => (arg === "TALK" ? talk : arg))
    const { stdout, stderr } = await orangeboxHere(at(...given))
    for (const text of [stdout, stderr]) expect(text.replaceAll(/[\n\t]/g, "")).not.toMatch(UNSAFE)
    expect(stdout).not.toMatch(/^\+ 1 forged/m)
  })

  test.skipIf(!hasScript)("[Q-03] on a terminal the rebuilt prompt is shown as safe text, and colours are ours", () => {
    const inTerminal = (args: string[]): string =>
      spawnSync("script", ["-qec", [process.execPath, BIN, ...args].join(" "), "/dev/null"], {
        encoding: "utf8",
        env: { ...process.env, TERM: "xterm", NO_COLOR: "" },
        input: "",
      }).stdout
    const shown = inTerminal(at("last#7", "--rebuild"))
    expect(shown).toContain("And now? ␛[2J␛]0;owned␇")
    expect(shown).toMatch(/bytes 0–\d+ of \d+ · sha256:/)
    expect(inTerminal(at("last#7"))).toContain("\u001b[1m#7 model test-model")
    expect(inTerminal(at("last#7"))).not.toContain("\u001b[2J")
  })

  test("a small budget is kept, says what is left out, and the pages meet", async () => {
    const all = jsonOf<{ total: number }>(await orangeboxHere(at("last#7", "--budget", "100000", "--json")))
    let rows = 0
    for (let cursor: number | null = 0; cursor !== null; ) {
      const page: { from: number; to: number; next_cursor: number | null } = jsonOf(
        await orangeboxHere(at("last#7", "--budget", "400", "--cursor", String(cursor), "--json")),
      )
      expect(page.from).toBe(rows)
      rows = page.to
      cursor = page.next_cursor
    }
    expect(rows).toBe(all.total)
  })

  test.each([
    ["a step without a context", ["last#8"], /step #8 has no context: it called no model/],
    ["a step that is not there", ["last#99"], /there is no step #99/],
    ["two addresses", ["last#4", "#7"], /are not a run and a step of it/],
    ["--rebuild of a whole run", ["last", "--rebuild"], /--rebuild needs one step, and there are 2 contexts/],
    ["two questions", ["last#4", "--rebuild", "--why", "x"], /are two questions/],
    ["an empty --why", ["last", "--why", " "], /--why names no item/],
    ["a budget of nothing", ["last", "--budget", "0"], /must be at least 400 tokens/],
  ])("bad input is told with a next step and exit code 2: %s", async (_, args, message) => {
    const { stdout, stderr, exitCode } = await orangeboxHere(at(...args))
    expect(stderr).toMatch(message)
    expect(stdout).toBe("")
    expect(exitCode).toBe(2)
  })
})
