// `diagnose` of a long run and `cache` of many calls, as library calls on a store that is caught up.
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { diagnoseRun, findRun, loadCacheAudit, readStore } from "@orangebox/reader"
import { Recorder } from "@orangebox/recorder"
import { median, row } from "./measure.mjs"

export const title = "Diagnosis of a run of 10,000 events, cache audit of 500 calls"

const EVENTS = 10_000
const CALLS = 500
const ROUNDS = 5

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-diagnosis-"))
  try {
    const long = longRun(folder)
    const cached = await cachedRun(folder)
    return await readStore({ data: folder }, async ({ store }) => {
      const run = await findRun(store, long)
      const calls = await findRun(store, cached)
      const diagnosing = await timed(() => diagnoseRun(store, store, run, { data: folder }))
      const auditing = await timed(() => loadCacheAudit(store, store, calls))
      const loading = await timed(() => findRun(store, long))
      const ms = (value) => `${value.toFixed(0)} ms`
      return [
        row("events, model calls", `${run.events.length}, ${run.view.totals.modelCalls}`),
        row("loading the run", ms(loading)),
        row("diagnosing it, every detector", ms(diagnosing), "< 400 ms", diagnosing < 400),
        row(`cache audit of ${calls.view.totals.modelCalls} calls`, ms(auditing), "< 1,000 ms", auditing < 1000),
      ]
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** In processor time, because other work on the machine is no fault of ours; nothing here waits for anything but the disk's cache. */
async function timed(work) {
  const times = []
  for (let round = -2; round < ROUNDS; round++) {
    const start = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(start)
    if (round >= 0) times.push((user + system) / 1000)
  }
  return median(times)
}

/** Turns of a model call and two tools, about ten events each, told to the SDK. */
function longRun(folder) {
  const recorder = Recorder.open({ app: "bench-long", folder, cwd: folder, environment: "local" })
  const run = recorder.startRun({ entrypoint: "fix", input: "a long session" })
  for (let turn = 0; turn < EVENTS / 10; turn++) {
    const step = run.step(`turn-${turn}`)
    const model = step.startModel({ provider: "anthropic", model: "claude-x", request: `request ${turn}` })
    model.endModel({
      finishReason: "tool_use",
      usage: { prompt: 4000, completion: 200, cache_read: 3000 },
      requestedTools: ["read", "edit"],
    })
    for (const name of ["read", "edit"]) {
      const tool = step.startTool({ name, args: { path: `src/file-${turn}.ts` }, callId: `call_${turn}_${name}` })
      tool.endTool({ result: `result ${turn} of ${name}` })
    }
    step.log.info("turn over", { turn })
    step.log.info("and on", { turn })
    step.end()
  }
  run.complete({ output: "done" })
  recorder.close()
  return run.runId
}

/** A session over the wire whose history grows, with marks; every tenth call the time in its system prompt changes. */
async function cachedRun(folder) {
  const server = createServer((request, response) => {
    request.resume()
    request.on("end", () => {
      response.setHeader("content-type", "application/json")
      const usage = {
        input_tokens: 20,
        cache_read_input_tokens: 900,
        cache_creation_input_tokens: 600,
        output_tokens: 5,
      }
      const content = [{ type: "text", text: "ok" }]
      response.end(
        JSON.stringify({
          type: "message",
          id: "m",
          role: "assistant",
          model: "claude-sonnet-5",
          content,
          stop_reason: "end_turn",
          usage,
        }),
      )
    })
  })
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${server.address().port}/v1/messages`
  const recorder = Recorder.open({ app: "bench-cache", folder, cwd: folder, environment: "local" })
  const run = recorder.startRun({ entrypoint: "fix", input: "a cached session" })
  const messages = []
  for (let call = 0; call < CALLS; call++) {
    messages.push({ role: "user", content: [{ type: "text", text: `question ${call}` }] })
    const system = [
      {
        type: "text",
        text: `It is ${String(Math.floor(call / 10)).padStart(2, "0")}:00:00. You fix bugs.`,
        cache_control: { type: "ephemeral" },
      },
    ]
    // A window of the history: agents compact, and so that the bodies stay those of a session and not of its square.
    const body = JSON.stringify({ model: "claude-sonnet-5", max_tokens: 9, system, messages: messages.slice(-41) })
    await (await run.fetch(url, { method: "POST", headers: { "x-api-key": "k" }, body })).text()
    messages.push({ role: "assistant", content: [{ type: "text", text: "ok" }] })
  }
  run.complete()
  recorder.close()
  server.closeAllConnections()
  server.close()
  return run.runId
}
