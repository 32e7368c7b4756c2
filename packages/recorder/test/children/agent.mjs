// A small agent that records at full speed and acknowledges each finished call on stdout, after the call returned.
import { writeSync } from "node:fs"
import { Recorder } from "@orangebox/recorder"

const [folder, ending = "forever"] = process.argv.slice(2)
const recorder = Recorder.open({ app: "child-agent", folder })
const acknowledge = (text) => writeSync(1, `${text}\n`)

for (let n = 0; ending === "forever" || n < 3; n++) {
  const run = recorder.startRun({ entrypoint: "work", input: `job ${n}` })
  const step = run.step("plan")
  const model = step.startModel({ provider: "test", model: "m", request: { n, history: "x".repeat(20_000) } })
  acknowledge(model.id)
  for (let i = 0; i < 5; i++) model.chunk(Buffer.from(`data: piece ${i} of ${n}\n\n`))
  model.endModel({ finishReason: "stop", usage: { prompt: 10, completion: 2 } })
  acknowledge(`${model.id} ended`)
  await step.tool({ name: "read_file", args: { path: `${n}.ts` } }, ({ log }) => {
    log.info("reading", { n })
    return "y".repeat(9_000)
  })
  step.end()
  run.complete({ output: `done ${n}` })
  acknowledge(`${run.runId} completed`)
}
if (ending === "throw") throw new TypeError("uncaught in the agent")
if (ending === "exit") process.exit(7)
