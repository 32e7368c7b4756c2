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
  const recorder = Recorder.open({ app: "bench", folder, journal: { fsync: "never" } })
  const run = recorder.startRun({ entrypoint: "bench" })
  const bare = openSync(join(folder, "bare.log"), "a")
  // Every body differs, as in life, so that nothing is saved by having seen it before.
  const bodies = Array.from({ length: 64 }, (_, i) => Buffer.alloc(50_000, `message ${i} of a long conversation. `))
  let stamp = 0
  const fresh = (i) => {
    const body = bodies[i % bodies.length]
    body.writeUInt32LE(stamp++, 0)
    return body
  }
  const found = await compare(
    {
      bare: (i) => {
        const body = fresh(i)
        hash("sha256", body, "hex")
        writeSync(bare, body, 0, body.length)
      },
      ours: (i) => {
        run.startModel({ provider: "p", model: "m", request: fresh(i) }).endModel({})
      },
    },
    { rounds: 15, iterations: 200 },
  )
  recorder.close()
  closeSync(bare)
  rmSync(folder, { recursive: true, force: true })
  return [
    row("SHA-256 and bare write", micros(found.bare)),
    row("orangebox: model call and result", micros(found.ours)),
    row("orangebox : SHA-256 + write", times(found.ours / found.bare), "≤ 2 ×", found.ours / found.bare <= 2),
  ]
}
