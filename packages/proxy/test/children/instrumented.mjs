// An agent that records itself, under `orangebox run`.
import { Recorder } from "@orangebox/recorder"

const [folder] = process.argv.slice(2).filter((word) => word !== "quiet")
const recorder = Recorder.open({ app: "agent", folder })
const run = recorder.startRun({ entrypoint: "ask", input: "Hi" })
const response = await run.fetch(`${process.env.ANTHROPIC_BASE_URL}/v1/messages`, {
  method: "POST",
  body: JSON.stringify({ model: "claude-opus-4-5", max_tokens: 10, messages: [{ role: "user", content: "Hi" }] }),
})
await response.text()
run.complete()
if (process.argv.includes("quiet")) process.exit()

// The address of the proxy where it may get into a recording: a run named after a request, an error that quotes it, everything kept.
const all = Recorder.open({ app: "agent", folder, capture: "full" })
await all.fetch(`${process.env.ANTHROPIC_BASE_URL}/v1/models`).then((answer) => answer.text())
all.startRun({ entrypoint: "fail" }).fail(new TypeError(`Failed to parse URL from ${process.env.ANTHROPIC_BASE_URL}`))
recorder.log.info(`asking ${process.env.ANTHROPIC_BASE_URL}`)
