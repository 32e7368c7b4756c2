// Recording the 50 KB request of a model call, against hashing and writing the same bytes and nothing else.
import { hash } from "node:crypto"
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Recorder } from "@orangebox/recorder"
import { compare, micros, row, times } from "./measure.mjs"

export const title = "Recording a 50 KB request body"

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-bench-"))
  const quick = { app: "bench", journal: { fsync: "never" } }
  const recorder = Recorder.open({ ...quick, folder, capture: "full", allowFull: true })
  const run = recorder.startRun({ entrypoint: "bench" })
  const redacting = Recorder.open({ ...quick, folder: join(folder, "redacted") })
  const redactedRun = redacting.startRun({ entrypoint: "bench" })
  const bare = openSync(join(folder, "bare.log"), "a")
  // Every body differs, as in life, so that nothing is saved by having seen it before.
  const bodies = Array.from({ length: 64 }, (_, i) => Buffer.alloc(50_000, `message ${i} of a long conversation. `))
  let stamp = 0
  const fresh = (i) => {
    const body = bodies[i % bodies.length]
    body.writeUInt32LE(stamp++, 0)
    return body
  }
  const conversation = growing()
  const found = await compare(
    {
      bare: (i) => {
        const body = fresh(i)
        hash("sha256", body, "hex")
        writeSync(bare, body, 0, body.length)
      },
      bareRequest: (i) => {
        const body = conversation(i)
        hash("sha256", body, "hex")
        writeSync(bare, body, 0, body.length)
      },
      cold: (i) => {
        redactedRun.startModel({ provider: "p", model: "m", request: fresh(i) }).endModel({})
      },
      repeated: (i) => {
        redactedRun.startModel({ provider: "p", model: "m", request: conversation(i) }).endModel({})
      },
      ours: (i) => {
        run.startModel({ provider: "p", model: "m", request: fresh(i) }).endModel({})
      },
    },
    { rounds: 15, iterations: 200 },
  )
  recorder.close()
  redacting.close()
  closeSync(bare)
  rmSync(folder, { recursive: true, force: true })
  return [
    row("SHA-256 and bare write", micros(found.bare)),
    row("orangebox: model call and result", micros(found.ours)),
    row("orangebox : SHA-256 + write", times(found.ours / found.bare), "≤ 2 ×", found.ours / found.bare <= 2),
    row("redacted, nothing seen before", micros(found.cold)),
    row("redacted, a conversation that goes on", micros(found.repeated)),
    row(
      "redacted conversation : SHA-256 + write",
      times(found.repeated / found.bareRequest),
      "≤ 4 ×",
      found.repeated / found.bareRequest <= 4,
    ),
  ]
}

/** The requests of an agent: each says all that was said before, and one thing more. */
function growing() {
  const said = Array.from({ length: 24 }, (_, i) => ({
    role: i % 2 === 0 ? "user" : "assistant",
    content: `Message ${i}: ${"the tests under src/date fail because the month is counted from zero, see line 41. ".repeat(24)}`,
  }))
  const head = Buffer.from(`{"model":"m","messages":${JSON.stringify(said).slice(0, -1)}`)
  return (i) =>
    Buffer.concat([
      head,
      Buffer.from(`,{"role":"user","content":"And now number ${i}: ${"what next? ".repeat(60)}"}]}`),
    ])
}
