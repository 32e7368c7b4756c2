// An agent that is at work until somebody ends it: node live-agent.mjs FOLDER working|hanging
import { setTimeout as sleep } from "node:timers/promises"
import { Recorder } from "@orangebox/recorder"

const [, , folder, how] = process.argv
const recorder = Recorder.open({ app: "live-agent", folder, bodies: "on_fault" })
const run = recorder.startRun({ entrypoint: "count" })

async function work() {
  const step = run.step("plan")
  await step.model({ provider: "p", model: "m", request: { question: "how many sheep?" } }, () => {
    if (how === "hanging") return hang()
    return "seven"
  })
  await step.tool({ name: "read", args: {} }, () => "one two three")
  await sleep(50)
  step.end()
}

function hang() {
  process.stdout.write(`${run.runId}\n`)
  return sleep(600_000)
}

await work()
process.stdout.write(`${run.runId}\n`)
for (;;) await work()
