// An agent that records itself: it asks a model, runs the tool the model wants, and says what came out. Tools leave a mark in the world.
import { appendFileSync, readFileSync } from "node:fs"
import { Recorder } from "@orangebox/recorder"

const recorder = Recorder.open({ app: "sdk-agent" })
const run = recorder.startRun({ entrypoint: "work", input: "work on the files" })
const ask = async (step, content) => {
  const response = await step.fetch(`${process.env.ANTHROPIC_BASE_URL}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ model: "claude-x", max_tokens: 64, messages: [{ role: "user", content }] }),
  })
  if (!response.ok) throw new Error(`refused with ${response.status}`)
  return (await response.json()).content[0].text
}
try {
  const step = run.step("plan")
  const wanted = await ask(step, process.env.AGENT_ASKS ?? "what shall I write?")
  const written = await step.tool({ name: "write_file", args: { text: wanted }, effect: "write" }, () => {
    appendFileSync(process.env.AGENT_FILE, `${wanted}\n`)
    return `wrote ${wanted}`
  })
  const verdict = await ask(step, written)
  step.end()
  run.complete({ output: verdict })
  console.log(verdict)
  if (process.env.AGENT_SHOWS) process.stdout.write(readFileSync(process.env.AGENT_FILE, "utf8"))
} catch (error) {
  run.fail(error)
  console.log(error.message)
  process.exitCode = 3
}
