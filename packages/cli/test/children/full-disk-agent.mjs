// An agent under profile "audit" whose disk fills up: node full-disk-agent.mjs FOLDER ORIGIN. It waits for a line on stdin before it compiles,
// catches what stops it as programs do, tries to go on, and tells what happened.
import { once } from "node:events"
import { compile, defineStages } from "@orangebox/context"
import { Recorder } from "@orangebox/recorder"

const [, , folder, origin] = process.argv
const recorder = Recorder.open({ app: "full-disk-agent", folder, profile: "audit" })
const run = recorder.startRun({ entrypoint: "fix" })
const step = run.step("plan")
process.stdout.write(`${run.runId}\n`)
await once(process.stdin, "data")

const stages = defineStages({ name: "fixer", version: "1", stages: [{ id: "plan", name: "plan", mission: "Plan." }] })
const context = compile(stages.stage("plan"), { runId: run.runId, generatedAt: new Date().toISOString() })
const told = {}
const attempt = async (name, work) => {
  try {
    await work()
    told[name] = "went on"
  } catch (error) {
    told[name] = error.code ?? error.name
  }
}
await attempt("context", () => step.context(context))
await attempt("model", () => step.model({ provider: "p", model: "m", request: "x" }, () => fetch(origin)))
await attempt("fetch", () => step.fetch(`${origin}/v1/messages`, { method: "POST", body: "{}" }))
await attempt("tool", () => run.tool({ name: "t", args: {} }, () => fetch(origin)))
told.isAborted = run.signal.aborted
run.fail(run.signal.reason)
recorder.close()
process.stdout.write(`${JSON.stringify(told)}\n`)
process.exit(0)
