// An agent that is killed outright: node killed-agent.mjs FOLDER KEEPING WHERE. It says its run's id first.
import { writeSync } from "node:fs"
import { compile, defineStages } from "@orangebox/context"
import { Recorder } from "@orangebox/recorder"

const [folder, keeping, where] = process.argv.slice(2)
const recorder = Recorder.open({ app: "killed-agent", folder, ...JSON.parse(keeping) })
const run = recorder.startRun({ entrypoint: "fix" })
writeSync(1, run.runId)
const die = (at) => where === at && process.kill(process.pid, "SIGKILL")
die("before anything was asked")

const stages = defineStages({ name: "fixer", version: "1", stages: [{ id: "plan", name: "plan", mission: "Plan." }] })
const step = run.step("plan")
const compiled = compile(stages.stage("plan"), {
  runId: run.runId,
  generatedAt: new Date().toISOString(),
  items: [{ id: "m1", type: "user_input", text: "The date test fails.", sourceRef: "user:m1" }],
})
step.context(compiled)
await step.tool({ name: "read", args: {} }, () => "what the tool said")
const call = step.startModel({ provider: "p", model: "m", request: { prompt: compiled.prompt } })
if (where === "in a word of a provider's answer") {
  for (const text of ["The month is ", "zero-based; its to", "ken is ghp_", "A1b2C3d4E5f6G7h8"]) {
    const delta = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }
    call.chunk(Buffer.from(`data: ${JSON.stringify(delta)}\n\n`))
  }
  die(where)
}
call.chunk(Buffer.from("data: the first half\n\n"))
call.chunk(Buffer.from("data: and a bit\n\n"))
die("while the answer came")
call.endModel({})
die("with a step open")
step.end()
die("after its last step ended well")
run.complete()
die("after its end")
