// Asks a model for a stream through the recording fetch, acknowledges every piece it was given, and never comes to an end.
import { writeSync } from "node:fs"
import { Recorder } from "@orangebox/recorder"

const [folder, url] = process.argv.slice(2)
const run = Recorder.open({ app: "streaming-agent", folder }).startRun({ entrypoint: "chat" })
const body = JSON.stringify({
  model: "claude-x",
  max_tokens: 64,
  stream: true,
  messages: [{ role: "user", content: "hi" }],
})
const response = await run.fetch(`${url}/v1/messages`, { method: "POST", body })
for await (const piece of response.body) writeSync(1, piece)
