import type { Problem } from "@orangebox/contract"
import { BODY } from "../codes.js"
import { isAbsent, type Progress } from "../trace-store.js"
import type { Connection } from "./connection.js"
import type { StoredBodies } from "./stored-bodies.js"

const SAMPLE = 200
const AT_ONCE = 50

/** Bodies that are not what their hash says. Whether its own files are whole, a cluster checks by itself at every read. */
export async function checkIntegrity(
  connection: Connection,
  bodies: StoredBodies,
  { bodies: mode = "sample", onProgress }: { bodies?: "all" | "sample" | "none" } & Progress,
): Promise<Problem[]> {
  if (mode === "none") return []
  const order = mode === "all" ? "ORDER BY hash" : `ORDER BY rand() LIMIT ${SAMPLE}`
  const rows = await connection.rows(`SELECT hash FROM body_rows FINAL WHERE state = ${BODY.here} ${order}`)
  const problems: Problem[] = []
  for (let from = 0; from < rows.length; from += AT_ONCE) {
    const hashes = rows.slice(from, from + AT_ONCE).map((row) => String(row["hash"]))
    const readings = await bodies.read(hashes)
    readings.forEach((reading, at) => {
      if (!isAbsent(reading)) return
      const [code, ...rest] = reading.reason.split(": ")
      problems.push({ code: code!, severity: "error", subject: hashes[at]!, field: "", reason: rest.join(": ") })
    })
    onProgress?.(from, rows.length, "bodies")
  }
  return problems
}
