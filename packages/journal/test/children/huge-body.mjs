// Records one body of so many MiB, as chunks or in one piece, and tells what memory that took: node huge-body.mjs <folder> <MiB> <form>
import { writeSync } from "node:fs"
import { bodyHash } from "@orangebox/contract"
import { openJournal } from "@orangebox/journal"

const MIB = 1024 * 1024
const [folder, mebibytes, form] = process.argv.slice(2)
const journal = openJournal({ folder, appId: "huge", recorderVersion: "0", fsync: "never", slowWriteMs: 1e9 })
const event = { json: '{"i":0}', runId: "run_x", sequenceNo: 0 }

const ways = {
  chunks: () => {
    const stream = journal.openStream({ runId: "run_x", stepId: "step", role: "response" })
    const piece = Buffer.alloc(MIB)
    for (let i = 0; i < Number(mebibytes); i++) if (!stream.write(piece.fill(i))) throw new Error("dropped")
    const { hash, byteSize } = stream.finish()
    return { hash, byteSize, streamId: stream.id }
  },
  "one buffer": () => {
    const bytes = Buffer.alloc(Number(mebibytes) * MIB)
    for (let i = 0; i < Number(mebibytes); i++) bytes.fill(i, i * MIB, (i + 1) * MIB)
    return { hash: bodyHash(bytes), bytes }
  },
}
const before = process.resourceUsage().maxRSS
const body = ways[form]()
if (!journal.append({ ...event, bodies: [body] }).written) throw new Error("dropped")
journal.close({ exitCode: 0, reason: "exit" })
const grownKib = process.resourceUsage().maxRSS - before
writeSync(1, JSON.stringify({ hash: body.hash, grownMib: Math.round(grownKib / 1024) }))
