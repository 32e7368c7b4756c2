// A small agent recorded with the SDK, end to end: it looks for a bug in a file, asks a (local, scripted) model what to do, edits the file
// and checks the result. Then it reads its own journal back and verifies what was recorded.
//
//   node examples/recorded-agent.mjs
import assert from "node:assert/strict"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { validate, validateRun } from "@orangebox/contract"
import { listJournals, tailJournal } from "@orangebox/journal"
import { Recorder } from "@orangebox/recorder"

const scratch = await mkdtemp(join(tmpdir(), "orangebox-example-"))
const file = join(scratch, "leap.mjs")
await writeFile(file, "export const isLeap = (year) => year % 4 === 0\n")

const recorder = Recorder.open({ app: "recorded-agent", folder: join(scratch, "data") })
await fixLeapYears(recorder, "isLeap(1900) must be false")
recorder.close()

/** The agent. Every handle is passed down; nothing is looked up behind its back. */
async function fixLeapYears(recorder, request) {
  const run = recorder.startRun({ entrypoint: "fix", input: request, conversationId: "conversation-1" })
  try {
    const plan = run.step("plan")
    const source = await readSource(plan)
    const edit = await askModel(plan, request, source)
    plan.end()

    const apply = run.step("apply")
    await writeSource(apply, source, edit.arguments.content)
    await checkResult(apply)
    apply.end()
    run.complete({ output: "fixed" })
  } catch (error) {
    run.fail(error)
  }
}

function readSource(step) {
  return step.tool({ name: "read_file", args: { path: "leap.mjs" }, effect: "read" }, () => readFile(file, "utf8"))
}

function askModel(step, request, source) {
  const body = {
    model: "scripted-1",
    max_tokens: 200,
    messages: [{ role: "user", content: `${request}\n\n${source}` }],
  }
  return step.model(
    {
      provider: "scripted",
      model: body.model,
      request: body,
      describe: (reply) => ({
        finishReason: "tool_use",
        usage: { prompt: reply.usage.input, completion: reply.usage.output },
        requestedTools: [reply.name],
      }),
    },
    // Stands for any client: `send.signal` aborts when the run may not go on.
    async () => ({
      name: "write_file",
      arguments: {
        content: "export const isLeap = (year) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0\n",
      },
      usage: { input: 64, output: 41 },
    }),
  )
}

async function writeSource(step, before, after) {
  await step.tool({ name: "write_file", args: { path: "leap.mjs", content: after }, effect: "write" }, ({ log }) => {
    log.info("replacing the file", { bytesBefore: before.length, bytesAfter: after.length })
    return writeFile(file, after)
  })
  step.artifact({
    id: "edit-1",
    type: "file_edit",
    summary: "leap.mjs +1 -1",
    content: `-${before}+${after}`,
    path: "leap.mjs",
    linesAdded: 1,
    linesRemoved: 1,
  })
}

async function checkResult(step) {
  const { isLeap } = await import(file)
  const isRight = !isLeap(1900) && isLeap(2000) && isLeap(2024)
  step.validatorDecision({ name: "leap-years", decision: isRight ? "pass" : "fail" })
  if (!isRight) throw new Error("isLeap is still wrong")
}

// What was recorded, read straight from the journal.
const events = listJournals(join(scratch, "data", "journal"))
  .flatMap(({ path }) => [...tailJournal(path)])
  .flatMap((item) => (item.kind === "line" && item.line.kind === "event" ? [item.line.event] : []))
const ofRun = events.filter((event) => event.run_id !== null)
assert.deepEqual(events.flatMap(validate), [])
assert.deepEqual(validateRun(ofRun), [])
assert.equal(ofRun.filter((event) => event.event_type === "tool_result").length, 2)
assert.equal(ofRun.find((event) => event.event_type === "model_result").payload.token_usage.total, 105)
assert.equal(ofRun.at(-1).event_type, "run_completed")

for (const event of ofRun) console.log(String(event.sequence_no).padStart(3), event.event_type)
console.log(`${ofRun.length} events of one run, every one valid`)
await rm(scratch, { recursive: true, force: true })
