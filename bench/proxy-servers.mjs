// The servers of proxy.bench.mjs, each in a process of its own: a model that answers at once, and the recording proxy in front of it.
import { createServer } from "node:http"
import { startProxy } from "@orangebox/proxy"
import { Recorder } from "@orangebox/recorder"
import { chatAnswer } from "./chat-answer.mjs"

const [role, ...args] = process.argv.slice(2)
if (role === "upstream") upstream()
else await proxy(args[0], args[1])

function upstream() {
  const server = createServer((request, response) => {
    request.on("data", () => {})
    request.on("end", () => answer(request.url, response))
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }))
}

function answer(url, response) {
  if (url.startsWith("/download/")) return download(Number(url.split("/")[2]), response)
  if (url.startsWith("/ticks/")) return ticks(Number(url.split("/")[2]), response)
  response.writeHead(200, { "content-type": "application/json" })
  response.end(ANSWER)
}

const ANSWER = chatAnswer(12_000)

/** Chunks that carry the time they were sent at; the clock is the machine's, so another process can subtract. */
function ticks(count, response) {
  response.writeHead(200, { "content-type": "text/event-stream" })
  let sent = 0
  const timer = setInterval(() => {
    if (sent++ < count) response.write(`data: ${process.hrtime.bigint()}\n\n`)
    else {
      clearInterval(timer)
      response.end()
    }
  }, 2)
}

function download(bytes, response) {
  response.writeHead(200, { "content-type": "application/octet-stream" })
  const piece = Buffer.alloc(64 * 1024, "z")
  let left = bytes
  const fill = () => {
    while (left > 0) {
      left -= piece.length
      if (!response.write(piece)) return response.once("drain", fill)
    }
    response.end()
  }
  fill()
}

async function proxy(origin, folder) {
  const recorder = Recorder.open({ app: "bench", folder })
  const run = recorder.startRun({ entrypoint: "bench" })
  const started = await startProxy({ recorder, run, upstreams: { openai: origin } })
  let peak = 0
  const look = () => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }
  setInterval(look, 20).unref()
  process.on("message", (message) => {
    if (message !== "peak") return
    look()
    process.send({ peak })
    peak = process.memoryUsage.rss()
  })
  process.send({ url: started.urlFor("openai") })
}
