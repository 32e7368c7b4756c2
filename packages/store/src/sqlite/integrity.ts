import type { Problem } from "@orangebox/contract"
import { BODY } from "../codes.js"
import type { Progress } from "../trace-store.js"
import type { ReadConnection } from "./connection.js"
import { unpackHash } from "./keys.js"

const SAMPLE = 200

/** What is wrong with the store itself: the database's own check, counts that must agree, bodies that are not what their hash says. */
export function checkIntegrity(
  { database, storage }: ReadConnection,
  options: { bodies?: "all" | "sample" | "none" } & Progress,
): Problem[] {
  const problems: Problem[] = []
  const say = (code: string, subject: string, reason: string): void =>
    void problems.push({ code, severity: "error", subject, field: "", reason })

  for (const row of database.prepare("PRAGMA integrity_check(20)").all()) {
    const text = String(row["integrity_check"])
    if (text !== "ok") say("database_damaged", "trace.db", text)
  }
  const stray = database
    .prepare("SELECT count(*) AS total FROM text_runs WHERE text NOT IN (SELECT key FROM text_rows)")
    .get()
  if (Number(stray?.["total"]) > 0) say("search_stray", "search", `${Number(stray?.["total"])} entries name no text`)

  const mode = options.bodies ?? "sample"
  if (mode === "none") return problems
  const order = mode === "all" ? "ORDER BY key" : `ORDER BY random() LIMIT ${SAMPLE}`
  const keys = database.prepare(`SELECT key FROM body_rows WHERE state = ${BODY.here} ${order}`).all()
  const find = database.prepare("SELECT hash, recipe FROM body_rows WHERE key = ?")
  for (const [index, { key }] of keys.entries()) {
    const row = find.get(Number(key))
    if (row === undefined) continue
    const hash = unpackHash(row["hash"])
    const { problem } = storage.read(row["recipe"] as Uint8Array, hash)
    if (problem !== undefined) say(problem.code, hash, `${problem.reason} (${problem.where})`)
    if (index % 100 === 0) options.onProgress?.(index, keys.length, "bodies")
  }
  return problems
}
