// An agent that records itself, under `orangebox run`.
import { Recorder } from "@orangebox/recorder"

const recorder = Recorder.open({ app: "agent", folder: process.argv[2] })
const run = recorder.startRun({ entrypoint: "ask", input: "Hi" })
const response = await run.fetch(`${process.env.ANTHROPIC_BASE_URL}/v1/messages`, {
  method: "POST",
  body: JSON.stringify({ model: "claude-opus-4-5", max_tokens: 10, messages: [{ role: "user", content: "Hi" }] }),
})
await response.text()
run.complete()
