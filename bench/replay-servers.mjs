// The proxy of replay.bench.mjs, in a process of its own: records what it is asked against a model that answers at once, then answers the
// same from the tape, into a real data folder each time.
import { createServer } from "node:http"
import { startProxy } from "@orangebox/proxy"
import { MemorySink, Recorder } from "@orangebox/recorder"
import { replayRecorder, tapeOf } from "@orangebox/replay"
import { chatAnswer } from "./chat-answer.mjs"
import { requestOf } from "./replay-requests.mjs"

const [calls, folder] = process.argv.slice(2)

const ANSWER = chatAnswer(1_200)

const tape = await record(Number(calls))
let replay
process.on("message", async (message) => {
  if (message === "start") process.send({ url: await start() })
  if (message === "stop") process.send(await stop())
})
process.send("ready")

async function start() {
  const recorder = replayRecorder(tape.tape, { app: "bench", folder, covers: ["model", "http"] })
  const run = recorder.recorder.startRun({ entrypoint: "bench" })
  // Nothing listens there: a call that is not answered from the tape would fail.
  const upstreams = { openai: "http://127.0.0.1:9" }
  const proxy = await startProxy({ recorder: recorder.recorder, run, upstreams, replay: recorder })
  replay = { recorder, run, proxy, cpu: process.cpuUsage() }
  return proxy.urlFor("openai")
}

async function stop() {
  const { recorder, run, proxy } = replay
  const { user, system } = process.cpuUsage(replay.cpu)
  await proxy.close()
  run.complete()
  const { issued, report } = recorder.certify(tape)
  recorder.close()
  return { issued, sockets: report.egress.upstream_sockets, cpuMicros: user + system }
}

/** One after the other, as an agent asks: calls that overlap would be answered in the order of their recorded answers. */
async function record(count) {
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(ANSWER)
    })
  })
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  const sink = new MemorySink()
  const recorder = Recorder.open({ app: "bench", sink })
  const run = recorder.startRun({ entrypoint: "bench" })
  const upstreams = { openai: `http://127.0.0.1:${server.address().port}` }
  const proxy = await startProxy({ recorder, run, upstreams })
  for (let n = 0; n < count; n++) {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: requestOf(n) }
    await (await fetch(`${proxy.urlFor("openai")}/v1/chat/completions`, init)).arrayBuffer()
  }
  await proxy.close()
  run.complete()
  recorder.close()
  server.close()
  server.closeAllConnections()
  const events = sink.events.filter(({ run_id }) => run_id === run.runId)
  const reading = tapeOf(events, sink.bodies)
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems))
  return { events, tape: reading.tape }
}
