import { spawn } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Recorder } from "@orangebox/recorder"
import { describe, expect, test } from "vitest"
import { jsonOf, orangebox, orangeboxHere } from "./command.js"
import { dataOfEachTest } from "./data-of-each-test.js"
import { startModelServer } from "./model-server.js"

// One fact, one figure: whichever command is asked.

const here = dataOfEachTest()
const { said, document } = here

const rows = async <T>(query: string): Promise<T[]> => {
  const { columns, rows } = jsonOf<{ columns: string[]; rows: unknown[][] }>(
    await orangebox(["sql", query, "--json", "--data", here.data]),
  )
  return rows.map((row) => Object.fromEntries(columns.map((name, at) => [name, row[at]])) as T)
}

const REQUEST = { model: "claude-x", max_tokens: 9, messages: [{ role: "user", content: "hi" }] }
const ANSWER = {
  ...{ id: "msg_1", type: "message", role: "assistant", model: "claude-x", stop_reason: "end_turn" },
  ...{ content: [{ type: "text", text: "hello" }], usage: { input_tokens: 100, output_tokens: 5 } },
}
const answering = () =>
  startModelServer((_, response) => {
    response.writeHead(200, { "content-type": "application/json" })
    response.end(JSON.stringify(ANSWER))
  })

test("[Q-08] a step takes what its end says it took, for show, sql and decisions alike", async () => {
  const server = await answering()
  const recorder = Recorder.open({ app: "agent", folder: here.data })
  const run = recorder.startRun({ entrypoint: "time", input: "x" })
  await run.model({ provider: "anthropic", model: "claude-x", request: REQUEST }, async (_, step) => {
    const answer = await step.fetch(`${server.origin}/v1/messages`, { method: "POST", body: JSON.stringify(REQUEST) })
    return answer.json()
  })
  await run.tool({ name: "wait", args: {} }, () => "x".repeat(100_000))
  run.complete({ output: "ok" })
  recorder.close()
  await server.close()

  const ends = await rows<{ step_id: string; ms: number }>(
    "select step_id, coalesce(payload ->> '$.latency_ms', payload ->> '$.total_latency_ms') as ms from events where ms is not null order by sequence_no",
  )
  const latencies = new Map(ends.map(({ step_id, ms }) => [step_id, Number(ms)]))
  expect(latencies.size).toBe(4)
  type Row = { type: string; step_id: string; duration_us: number }
  const shown = (await document<{ rows: Row[] }>("show", run.runId, "--all")).rows.filter(({ type }) => type === "step")
  expect(new Map(shown.map(({ step_id, duration_us }) => [step_id, duration_us / 1000]))).toEqual(latencies)
  const stored = await rows<{ step_id: string; duration_ms: number }>("select step_id, duration_ms from steps")
  expect(new Map(stored.map(({ step_id, duration_ms }) => [step_id, duration_ms]))).toEqual(latencies)
})

test("[F-08] a process killed in mid-answer is told at its call, with what had come, and lasted until the last piece of it", async () => {
  const server = await startModelServer((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    const send = (type: string, rest: object) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`)
    send("message_start", { message: { ...ANSWER, content: [] } })
    send("content_block_start", { index: 0, content_block: { type: "text", text: "" } })
    let count = 0
    const timer = setInterval(() => {
      send("content_block_delta", { index: 0, delta: { type: "text_delta", text: `word${count++} ` } })
      if (count === 8) clearInterval(timer)
    }, 30)
  })
  const script = join(here.path, "agent.mjs")
  const recorderAt = new URL("../../recorder/dist/index.js", import.meta.url).href
  writeFileSync(
    script,
    `import { Recorder } from ${JSON.stringify(recorderAt)}
     const recorder = Recorder.open({ app: "mid", folder: ${JSON.stringify(here.data)} })
     const run = recorder.startRun({ entrypoint: "mid", input: "tell me" })
     const request = ${JSON.stringify({ ...REQUEST, stream: true })}
     run.model({ provider: "anthropic", model: "claude-x", request }, async (_, step) => {
       const answer = await step.fetch(${JSON.stringify(`${server.origin}/v1/messages`)}, { method: "POST", body: JSON.stringify(request) })
       const decoder = new TextDecoder()
       for await (const bytes of answer.body) if (decoder.decode(bytes).includes("word7")) process.kill(process.pid, "SIGKILL")
     })`,
  )
  await once(spawn(process.execPath, [script], { stdio: "ignore" }), "exit")
  await server.close()

  const shown = await said("show", "last")
  expect(shown).toMatch(/^#2 .*model claude-x.* ✗ crashed after .* of the response$/m)
  expect(shown).toMatch(/died in #2/)
  expect(shown).toMatch(/cause #2 · .*\n.*next: orangebox step .*last#2/)
  expect(await said("step", "last#2", "--brief")).toMatch(/answer {2}\(as far as it came.*word0 word1/)
  expect(await said("step", "last#2", "--body", "response")).toContain("word0 word1")
  const [run] = await rows<{ duration_ms: number; last: number }>(
    "select duration_ms, (select max(mono_us) - min(mono_us) from events where sequence_no is not null) / 1000.0 as last from runs",
  )
  // Seven more pieces came after the first, 30 ms apart at least.
  expect(run!.duration_ms).toBeGreaterThan(run!.last + 150)
})

describe("[M-08] a request that does not carry its call's `send`", () => {
  const ask = async (recorder: Recorder, origin: string, calls: number) => {
    const run = recorder.startRun({ entrypoint: "chat", input: "hi" })
    const body = JSON.stringify(REQUEST)
    const one = () =>
      run.model({ provider: "anthropic", model: "claude-x", request: REQUEST }, async () => {
        // By then all of them are open.
        await new Promise(setImmediate)
        const answer = await recorder.fetch(`${origin}/v1/messages`, { method: "POST", body })
        return answer.json()
      })
    await Promise.all(Array.from({ length: calls }, one))
    run.complete({ output: "ok" })
  }

  for (const capture of ["redacted", "hashed"] as const) {
    test(`is told apart by its prompt, and counted once, ${capture}`, async () => {
      const server = await answering()
      const recorder = Recorder.open({ app: "agent", folder: here.data, capture })
      await ask(recorder, server.origin, 1)
      recorder.close()
      await server.close()
      const { runs } = await document<{ runs: { totals: object }[] }>("runs")
      expect(runs).toHaveLength(1)
      expect(await rows("select sum(model_calls) as calls, sum(prompt_tokens) as tokens from runs")).toEqual([
        { calls: 1, tokens: 100 },
      ])
      expect(await said("show", "last", "--all")).toMatch(/attempt 1/)
    })
  }

  test("of two open calls with one prompt is given to neither", async () => {
    const server = await answering()
    const recorder = Recorder.open({ app: "agent", folder: here.data })
    await ask(recorder, server.origin, 2)
    recorder.close()
    await server.close()
    expect((await document<{ runs: object[] }>("runs")).runs).toHaveLength(3)
    expect(await said("show", "last~2", "--all")).not.toMatch(/attempt/)
  })
})

describe("[Q-09] what the smaller answers say", () => {
  const talk = async (capture: "redacted" | "hashed") => {
    const recorder = Recorder.open({ app: "agent", folder: here.data, capture })
    for (const text of ["one", "two"]) {
      const run = recorder.startRun({ entrypoint: "chat", input: text, conversationId: "conv-1" })
      const request = { ...REQUEST, messages: [{ role: "user", content: text }] }
      await run.model({ provider: "anthropic", model: "claude-x", request }, () => ANSWER)
      run.complete({ output: text })
    }
    recorder.close()
  }

  test("the contexts of a conversation are those of all its runs, in order", async () => {
    await talk("redacted")
    const text = await said("context", "conv-1")
    expect(text.match(/^run_\S+/gm)).toHaveLength(2)
    expect(text).toMatch(/first[\s\S]*\+1 −1/)
    const { runs, total } = await document<{ runs: { contexts: object[] }[]; total: number }>("context", "conv-1")
    expect([total, runs.map(({ contexts }) => contexts.length)]).toEqual([2, [1, 1]])
    expect(await said("context", "conv-1", "--budget", "400")).toMatch(/^1 earlier run: orangebox context .*run_/)
  })

  test("under hashed capture a conversation has one id in documents, and bodies have their sizes", async () => {
    await talk("hashed")
    expect(await said("show", "conv-1")).toMatch(/^conversation conv-1 · recorded as hmac:[0-9a-f]+ · 2 runs/)
    const { conversation_id, runs } = await document<{ conversation_id: string; runs: { conversation_id: string }[] }>(
      "show",
      "conv-1",
    )
    expect(runs.map((run) => run.conversation_id)).toEqual([conversation_id, conversation_id])
    const compared = await said("diff", "last~1#2", "last#2")
    expect(compared).toMatch(/request: \d+ bytes, hashed sha256:\S+ -> \d+ bytes, hashed/)
    expect(compared).not.toContain("? bytes")
  })

  test("[R-16] a fault with nothing to show says why", async () => {
    const recorder = Recorder.open({ app: "agent", folder: here.data, bodies: "on_fault" })
    recorder.startRun({ entrypoint: "early", input: "x" }).fail(new Error("no key"))
    recorder.close()
    expect(await said("show", "last")).toMatch(/fault system_error .*no evidence: nothing had been sent/)
  })

  test("[Q-09] a wrong retention variable is named by a command that only reads, once", async () => {
    await talk("redacted")
    process.env["ORANGEBOX_RETENTION_BODIES"] = "soon"
    try {
      const { stdout, stderr, exitCode } = await orangeboxHere(["show", "last", "--data", here.data])
      expect(stderr.match(/ORANGEBOX_RETENTION_BODIES is "soon"/g)).toHaveLength(1)
      expect(stderr).toContain("this answer goes by the defaults")
      expect([stdout.includes("chat"), exitCode]).toEqual([true, 0])
    } finally {
      delete process.env["ORANGEBOX_RETENTION_BODIES"]
    }
  })
})
