// An agent that records itself and does what plan.json says, so that it is started with the same command whatever it does.
import { readFileSync } from "node:fs"
import { Recorder } from "@orangebox/recorder"

const plan = JSON.parse(readFileSync("plan.json", "utf8"))
const recorder = Recorder.open({ app: "family-agent" })
for (const {
  entrypoint = "work",
  input = "go",
  tool = "write",
  artifact,
  verdict,
  log,
  output,
  fails,
  left,
  kills,
} of plan.runs) {
  const run = recorder.startRun({
    entrypoint,
    input,
    ...(plan.conversation ? { conversationId: plan.conversation } : {}),
  })
  const step = run.step(plan.step ?? "plan")
  const env = await step.tool({ name: tool, args: { entrypoint }, effect: "write" }, () => `did ${tool}`)
  if (kills) process.kill(process.pid, "SIGKILL")
  if (artifact) step.artifact({ id: "notes", type: "other", summary: "notes", content: artifact })
  if (verdict) step.validatorDecision({ name: "tests", decision: verdict })
  if (log) step.log.info(log, { at: Date.now() })
  step.end()
  if (fails) run.fail(new Error(fails))
  else if (!left) run.complete({ output: output ?? env })
}
