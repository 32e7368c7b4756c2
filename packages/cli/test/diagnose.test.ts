import { mkdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Recorder, type Run } from "@orangebox/recorder"
import { estimateTokens } from "@orangebox/text"
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest"
import { jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"

interface DiagnosisJson {
  readonly run_id?: string
  readonly of?: { readonly kind: string; readonly id: string }
  readonly runs?: readonly { readonly run_id: string }[]
  readonly is_unexplained: boolean
  readonly suspects: readonly { readonly step_no: number; readonly why: readonly string[] }[]
  readonly judged: { readonly named: number; readonly dropped: number; readonly reason: string | null } | null
  readonly findings: readonly {
    readonly run_id?: string
    readonly detector: string
    readonly confidence: string
    readonly cause_step: number
    readonly said: string | null
    readonly evidence: readonly Pointer[]
  }[]
}
interface Pointer {
  readonly run_id: string | null
  readonly step_no: number
  readonly role: string | null
  readonly from: number | null
  readonly to: number | null
}

let scratch: Scratch
let data: string
beforeEach(() => {
  scratch = scratchFolder()
  data = join(scratch.path, ".orangebox")
})
afterEach(() => scratch.remove())

async function recorded(...works: ((run: Run) => Promise<void> | void)[]): Promise<string[]> {
  const recorder = Recorder.open({ app: "agent", folder: data, cwd: scratch.path, environment: "local" })
  const ids: string[] = []
  for (const work of works) {
    const run = recorder.startRun({ entrypoint: "answer", input: "when was it built?", conversationId: "c-1" })
    await work(run)
    ids.push(run.runId)
  }
  recorder.close()
  return ids
}

const diagnose = (...args: string[]) => orangeboxHere(["diagnose", ...args, "--data", data])
const diagnosed = async (...args: string[]) => {
  const finished = await diagnose(...args, "--json")
  return { ...finished, json: jsonOf<DiagnosisJson>(finished) }
}

const answering = async (run: Run, output: string): Promise<void> => {
  await run.model({ provider: "anthropic", model: "m", request: { messages: [] } }, () => ({ text: output }))
}
const looping = async (run: Run): Promise<void> => {
  for (let at = 0; at < 4; at++)
    await run.tool({ name: "grep", args: { for: "x" }, callId: `toolu_loop_${at}` }, () => "nothing")
  run.fail(new Error("nothing is found"))
}

describe("[G-04] any id leads to the finding", () => {
  test("a run, a step, an event's tool call: one run, with the step that was asked about", async () => {
    const [id] = await recorded(looping)
    for (const address of ["last", id!, `${id}#3`, "toolu_loop_1"]) {
      const { json, exitCode } = await diagnosed(address)
      expect(exitCode).toBe(1)
      expect(json).toMatchObject({ run_id: id, findings: [{ detector: "loop", cause_step: 2 }] })
    }
  })

  test("a conversation, a trace and a message take their runs together, and what several show is told once", async () => {
    const body = { messageId: "m-2", sourceConversationId: "c-0", targetConversationId: "c-1" }
    let traceId = ""
    const recorder = Recorder.open({ app: "queue", folder: data, cwd: scratch.path, environment: "local" })
    const sender = recorder.startRun({ entrypoint: "send", conversationId: "c-0" })
    const message = sender.queue.enqueue(body)
    sender.complete()
    const takers = [1, 2].map(() => {
      const run = recorder.startRun({ entrypoint: "take", conversationId: "c-1" })
      run.queue.deliver(message)
      traceId = run.traceId
      run.complete()
      return run.runId
    })
    recorder.close()
    const thread = await diagnosed("conversation:c-1")
    expect(thread.exitCode).toBe(1)
    expect(thread.json.of).toEqual({ kind: "conversation", id: "c-1" })
    expect(thread.json.runs?.map(({ run_id }) => run_id)).toEqual(takers)
    expect(thread.json.findings.filter(({ detector }) => detector === "double_delivery")).toHaveLength(1)
    const ofMessage = await diagnosed("m-2")
    expect(ofMessage.json.of).toEqual({ kind: "message", id: "m-2" })
    expect(ofMessage.json.runs).toHaveLength(3)
    expect(ofMessage.json.findings[0]?.detector).toBe("double_delivery")
    const ofTrace = await diagnosed(traceId)
    expect(ofTrace.json.run_id ?? ofTrace.json.of?.id).toBe(ofTrace.json.runs === undefined ? takers[1] : traceId)
    const { stdout } = await diagnose("conversation:c-1")
    expect(stdout).toMatch(/^conversation c-1 · 2 runs, 0 ended badly · 1 finding\n/)
    expect(stdout).toMatch(/next: orangebox step --data \S+ run_\w+#\d+ --brief/)
    expect(estimateTokens(stdout)).toBeLessThanOrEqual(800)
  })

  test("what is not recorded names the nearest, and too small a budget says the least", async () => {
    await recorded(looping)
    const unknown = await diagnose("run_00NTSVCH")
    expect(unknown.exitCode).toBe(2)
    expect(unknown.stderr).toMatch(/Nearest:\n\s+run_/)
    const small = await diagnose("last", "--budget", "50")
    expect(small.exitCode).toBe(2)
    expect(small.stderr).toMatch(/300/)
    const least = await diagnose("last", "--budget", "300")
    expect(least.stdout).toMatch(/PROVEN loop/)
    expect(estimateTokens(least.stdout)).toBeLessThanOrEqual(300)
  })
})

/** Opens what a finding points at, as its reader would. */
async function opened({ run_id, step_no, role, from, to }: Pointer, own: string): Promise<void> {
  const range = from === null || to === null ? [] : ["--from", String(from), "--bytes", String(to - from)]
  const body = role === null ? ["--brief"] : ["--body", role, ...range]
  const shown = await orangeboxHere(["step", `${run_id ?? own}#${step_no}`, ...body, "--data", data])
  expect(shown.stderr).toBe("")
  expect([0, 1]).toContain(shown.exitCode)
  expect(shown.stdout.length).toBeGreaterThan(0)
}

test("[G-02] every pointer that is printed opens", async () => {
  const [id] = await recorded(async (run) => {
    for (let at = 0; at < 3; at++) await run.tool({ name: "grep", args: {} }, () => "nothing")
    await run
      .tool({ name: "save", args: {}, effect: "write" }, () => Promise.reject(new Error("locked")))
      .catch(() => {})
    run.complete({ output: "done" })
  })
  const { json } = await diagnosed("last")
  expect(json.findings.map(({ detector }) => detector)).toEqual(expect.arrayContaining(["loop", "ignored_tool_error"]))
  for (const { evidence } of json.findings) for (const pointer of evidence) await opened(pointer, id!)
})

describe("[G-02] where to begin reading", () => {
  const wrong = async (run: Run): Promise<void> => {
    await answering(run, "I plan to look it up.")
    await run.tool({ name: "fetch", args: { url: "https://x.test" } }, () => "Built from 1889 on, opened 1890-05-12.")
    await answering(run, "I assume it was built in 1890-05-12.")
    run.complete({ output: "1890-05-12" })
  }

  test("a run that completed has no suspects, unless somebody says that it is wrong", async () => {
    await recorded(wrong)
    const fine = await diagnosed("last")
    expect([fine.exitCode, fine.json.suspects, fine.json.is_unexplained]).toEqual([0, [], false])
    const { json, exitCode } = await diagnosed("last", "--wrong")
    expect(exitCode).toBe(0)
    expect(json.is_unexplained).toBe(true)
    expect(json.suspects.length).toBeGreaterThan(0)
    expect(json.suspects.length).toBeLessThanOrEqual(3)
    const { stdout } = await diagnose("last", "--wrong")
    expect(stdout).toMatch(/where to begin reading \(an order, not findings\):\n {2}#\d+ it /)
  })

  test("with what was expected, the step that a wrong value comes from is one of them", async () => {
    await recorded(wrong)
    const { json } = await diagnosed("last", "--expected", "1889-03-31")
    const origin = json.suspects.find(({ why }) => why.some((one) => one.startsWith("a value of the outcome")))
    // The call that asked for it: a decision is told with what came of it.
    expect(origin?.step_no).toBe(2)
  })

  test("a finding on the way to the failure explains it, and nobody is suspected", async () => {
    await recorded(looping)
    const { json } = await diagnosed("last", "--wrong")
    expect(json.findings[0]?.detector).toBe("loop")
    expect(json.suspects).toEqual([])
  })
})

describe("[E-07] diagnose --judge", () => {
  const JUDGE = fileURLToPath(new URL("children/diagnosis-judge.mjs", import.meta.url))
  const ask = async (habit: string, ...args: string[]) => {
    const home = join(scratch.path, "home")
    mkdirSync(join(home, "config", "orangebox"), { recursive: true })
    const judges = {
      strict: { command: [process.execPath, JUDGE, habit], timeoutMs: habit === "hangs" ? 300 : 20_000 },
    }
    writeFileSync(join(home, "config", "orangebox", "config.json"), JSON.stringify({ judges }))
    return orangebox(["diagnose", "last", "--wrong", "--judge", "strict", "--data", data, ...args], {
      cwd: scratch.path,
      env: { HOME: home, XDG_CONFIG_HOME: join(home, "config") },
    })
  }
  const wrong = async (run: Run): Promise<void> => {
    await run.tool({ name: "look", args: {} }, () => "found nothing")
    const reply = {
      type: "message",
      role: "assistant",
      model: "m",
      content: [{ type: "text", text: "It was built by giants." }],
    }
    await run.model({ provider: "anthropic", model: "m", request: { messages: [] } }, () => reply)
    run.complete({ output: "giants" })
  }

  test("a judge that quotes what stands in the step it names is likely, and its words are shown as its own", async () => {
    await recorded(wrong)
    const { json } = { json: jsonOf<DiagnosisJson>(await ask("honest", "--json")) }
    expect(json.judged).toEqual({ judge: "strict", named: 1, dropped: 0, reason: null })
    expect(json.findings).toMatchObject([{ detector: "judge", confidence: "likely", said: "it made that up" }])
    const text = await ask("honest")
    expect(text.exitCode).toBe(1)
    expect(text.stdout).toMatch(/ {2}said "it made that up"/)
    const seen = jsonOf<DiagnosisJson>(await ask("suspects", "--json"))
    expect(seen.findings[0]).toMatchObject({
      confidence: "possible",
      said: expect.stringMatching(/^it acts/) as string,
    })
  })

  test("steps that are not there and false quotes are dropped and counted; a judge that hangs gave no verdict", async () => {
    await recorded(wrong)
    const invented = jsonOf<DiagnosisJson>(await ask("inventive", "--json"))
    expect(invented.findings).toEqual([])
    expect(invented.judged).toMatchObject({ named: 3, dropped: 3 })
    const hung = await ask("hangs")
    expect(hung.stdout).toMatch(/judge strict gave no verdict: .*no answer within 300 ms/)
    expect(hung.stdout).toMatch(/where to begin reading/)
  })

  test("what a judge writes cannot speak outside its quotes, and a judge nobody configured is told at once", async () => {
    await recorded(wrong)
    const { stdout } = await ask("injecting")
    expect(stdout).not.toContain("\u001b[31m")
    expect(stdout).not.toMatch(/^next: rm/m)
    const nobody = await diagnose("last", "--judge", "nobody")
    expect(nobody.exitCode).toBe(2)
    expect(nobody.stderr).toMatch(/no judge is called "nobody"/)
  })
})

test("[G-04] show names the most telling finding and how to read on, and nothing where nothing is broken", async () => {
  await recorded((run) => run.complete({ output: "ok" }), looping)
  const { stdout } = await orangeboxHere(["show", "last", "--data", data])
  expect(stdout).toMatch(/✗ PROVEN loop same_call, harm, cause #2 · orangebox diagnose --data \S+ last/)
  const fine = await orangeboxHere(["show", "last~1", "--data", data])
  expect(fine.stdout).not.toMatch(/orangebox diagnose/)
})

test("[G-04] the verdict of a command that ended names what is broken most in its run", async () => {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(400, { "content-type": "application/json" })
    const error = { type: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" }
    response.end(JSON.stringify({ type: "error", error }))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  const agent = `await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", { method: "POST", headers: { "x-api-key": "k" },
    body: JSON.stringify({ model: "claude-x", max_tokens: 9, messages: [{ role: "user", content: "go" }] }) })`
  const { port } = server.address() as AddressInfo
  const { stderr } = await orangebox(
    ["run", "--data", data, "--no-workspace", "--", process.execPath, "--input-type=module", "-e", agent],
    { cwd: scratch.path, env: { ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}` } },
  )
  expect(stderr).toMatch(
    /finding\s+PROVEN context_overflow, harm, cause #\d+.* · orangebox diagnose --data \S+ run_\w+/,
  )
})
