// An agent under profile "audit": node audit-agent.mjs FOLDER ORIGIN. It says its run's id, compiles a context, asks the model once and ends well.
import { compile, defineStages } from "@orangebox/context"
import { Recorder } from "@orangebox/recorder"

const [, , folder, origin] = process.argv
const recorder = Recorder.open({ app: "audit-agent", folder, profile: "audit" })
const run = recorder.startRun({ entrypoint: "fix", input: "the date test fails" })
process.stdout.write(`${run.runId}\n`)

const stages = defineStages({
  name: "fixer",
  version: "1",
  stages: [{ id: "plan", name: "plan", mission: "Plan the fix." }],
})
const step = run.step("plan")
const context = compile(stages.stage("plan"), {
  runId: run.runId,
  stepId: step.id,
  generatedAt: new Date().toISOString(),
  items: [{ id: "m1", type: "user_input", text: "The date test fails on leap years.", sourceRef: "user:m1" }],
})
step.context(context)
const response = await step.fetch(`${origin}/v1/messages`, {
  method: "POST",
  headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
  body: JSON.stringify({ model: "claude-x", max_tokens: 9, messages: [{ role: "user", content: context.prompt }] }),
})
await response.text()
step.end()
run.complete()
recorder.close()
