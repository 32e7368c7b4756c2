// A process that records: node writer.mjs <data folder> <what>
//   endless     a run that never ends; each record is acknowledged on stdout, after the call returned
//   open        a run with an open step, then silence
//   die         the same, and then it kills itself
//   exit        the same, and then it ends with a goodbye, the run still open
//   stream      the same with half a streamed answer, and then it kills itself
//   last-words  the same; its last words go into the reserve file, and it kills itself
//   stopped     the same, its last words being those of a recorder that stops a run under audit
//   stopped-then-ended   the same, but the run still ends, and the process with a goodbye
//   full-disk   the same; the disk takes nothing more, three records are dropped, and it kills itself
import fs, { writeSync } from "node:fs"
import { join } from "node:path"
import { openJournal } from "@orangebox/journal"
import { sampleBody } from "../sample-body.mjs"
import { SampleRun } from "../sample-run.mjs"

const [dataFolder, what] = process.argv.slice(2)
let isFull = false
const journal = openJournal({
  folder: join(dataFolder, "journal"),
  appId: "writer",
  recorderVersion: "0",
  ...(what === "endless" ? { maxFileBytes: 64 * 1024 } : {}),
  fs: { ...fs, writeSync: writeUnlessFull },
})
const run = new SampleRun(journal)
run.start()
const stepId = run.openStep()
writeSync(1, `${JSON.stringify({ runId: run.runId, stepId, writerId: journal.writerId, pid: process.pid })}\n`)

switch (what) {
  case "open":
    setInterval(() => {}, 1000)
    break
  case "exit":
    journal.close({ exitCode: 3, reason: "uncaught_exception" })
    break
  case "endless":
    appendSome(0)
    break
  case "stream": {
    const stream = journal.openStream({ runId: run.runId, stepId, role: "response" })
    stream.write(Buffer.from("half of "))
    stream.write(Buffer.from("the answer"))
    die()
    break
  }
  case "last-words":
    journal.lastWords("the manifest could not be written")
    die()
    break
  case "stopped":
  case "stopped-then-ended":
    journal.lastWords(
      JSON.stringify({
        run_id: run.runId,
        step_id: stepId,
        event_type: "context_manifest",
        sequence_no: 7,
        error: "no room",
      }),
    )
    if (what === "stopped") die()
    run.closeStep(stepId)
    run.complete()
    journal.close({ exitCode: 0, reason: "closed" })
    break
  case "full-disk":
    isFull = true
    for (let i = 0; i < 3; i++) run.log(`dropped ${i}`)
    die()
    break
  default:
    die()
}

function die() {
  process.kill(process.pid, "SIGKILL")
}

function appendSome(from) {
  let i = from
  for (let n = 0; n < 2; n++) {
    if (!run.log(`${i}`, i % 3 === 0 ? [sampleBody(i)] : []).written) continue
    i++
    writeSync(1, `${i}\n`)
  }
  setTimeout(appendSome, 10, i)
}

/** Only lines are appended; the reserve file's blocks are there already, and it is written at a place. */
function writeUnlessFull(fd, buffer, offset, length, position) {
  if (isFull && position === undefined) throw Object.assign(new Error("no space left"), { code: "ENOSPC" })
  return writeSync(fd, buffer, offset, length, position)
}
