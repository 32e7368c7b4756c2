import { CANARY_APP } from "@orangebox/contract"
import { ID_KINDS, STEP_KINDS } from "../codes.js"
import { hexRange, type IdIndex, resolveAtOnce } from "../resolve-id.js"
import type { Resolution, Target, TargetKind } from "../trace-store.js"
import type { SqliteDatabase, SqliteRow } from "./driver.js"
import { eventKey, packHex, runKeyOf, unpackHash, unpackHex, unpackUuid } from "./keys.js"
import { FIRST_OF_TRACE } from "./read-runs.js"

export function resolve(database: SqliteDatabase, input: string): Resolution {
  const index: IdIndex = {
    recordedAs: (text) => recordedAs(database, text),
    beginningWith: (text, limit) => lookups(database, text, limit),
    stepOf: (runId, no) => stepOf(database, runId, no),
    newestRuns: (before) => newestRuns(database, before),
    prunedAt: (runId) =>
      database
        .prepare("SELECT buried_at FROM buried_runs WHERE run_id = ?")
        .all(runId)
        .map((row) => Number(row["buried_at"])),
  }
  return resolveAtOnce(index, input)
}

function recordedAs(database: SqliteDatabase, text: string): Target[] {
  const runs = database.prepare("SELECT * FROM run_rows WHERE run_id = ?").all(text).map(runTarget)
  const steps = database
    .prepare(
      `SELECT step_rows.*, run_rows.run_id AS run_id FROM step_rows JOIN run_rows ON run_rows.key = step_rows.key / ${eventKey(1, 0)}
       WHERE step_rows.step_id = ? LIMIT 2`,
    )
    .all(packHex(text, 16))
  return [...runs, ...steps.map((row) => stepTarget(row, String(row["run_id"])))]
}

function stepOf(database: SqliteDatabase, runId: string, no: number): Target[] {
  const runKey = Number(database.prepare("SELECT key FROM run_rows WHERE run_id = ?").get(runId)?.["key"])
  const step = database.prepare("SELECT * FROM step_rows WHERE key = ?").get(eventKey(runKey, no))
  return step === undefined ? [] : [stepTarget(step, runId)]
}

function lookups(database: SqliteDatabase, text: string, limit: number): Target[] {
  const found: Target[] = []
  const upTo = (prefix: string): string => `${prefix}\u{10ffff}`

  const runText = text.startsWith("run_") ? text : `run_${text.toUpperCase()}`
  const runs = database.prepare("SELECT * FROM run_rows WHERE run_id >= ? AND run_id < ? LIMIT ?")
  for (const row of runs.all(runText, upTo(runText), limit)) found.push(runTarget(row))

  for (const [column, kind] of [
    ["trace_id", "trace"],
    ["conversation_id", "conversation"],
  ] as const) {
    const rows = database
      .prepare(
        `SELECT *, max(started_at) FROM run_rows WHERE ${column} >= ? AND ${column} < ? AND ${column} IS NOT NULL GROUP BY ${column} LIMIT ?`,
      )
      .all(text, upTo(text), limit)
    for (const row of rows) found.push({ ...runTarget(row), kind, id: String(row[column]) })
  }

  const steps = packedRange(text, 16)
  if (steps !== undefined) {
    const rows = database
      .prepare(
        `SELECT step_rows.*, run_rows.run_id AS run_id FROM step_rows JOIN run_rows ON run_rows.key = step_rows.key / ${eventKey(1, 0)}
         WHERE step_rows.step_id >= ? AND step_rows.step_id <= ? LIMIT ?`,
      )
      .all(...steps, limit)
    for (const row of rows) found.push(stepTarget(row, String(row["run_id"])))
  }

  const bodies = packedRange(text.replace(/^sha256:/, ""), 64)
  if (bodies !== undefined) {
    const rows = database.prepare("SELECT * FROM body_rows WHERE hash >= ? AND hash <= ? LIMIT ?").all(...bodies, limit)
    for (const row of rows) found.push(bodyTarget(database, row))
  }

  const events = packedRange(text.replaceAll("-", ""), 32)
  if (events !== undefined) {
    const rows = database
      .prepare("SELECT * FROM event_rows WHERE event_id >= ? AND event_id <= ? LIMIT ?")
      .all(...events, limit)
    for (const row of rows) found.push(eventTarget(database, row))
  }

  const ids = database.prepare(
    `SELECT id, kind, min(event) AS event FROM id_rows WHERE id >= ? AND id < ? AND kind <> ${ID_KINDS.indexOf("linked")}
     GROUP BY id, kind LIMIT ?`,
  )
  for (const row of ids.all(text, upTo(text), limit)) {
    const event = database.prepare("SELECT * FROM event_rows WHERE key = ?").get(Number(row["event"]))
    if (event === undefined) continue
    const kind = ID_KINDS[Number(row["kind"])] as TargetKind
    // Runs of the conversation say it first.
    if (kind === "conversation" && found.some((target) => target.kind === kind && target.id === row["id"])) continue
    found.push({ ...eventTarget(database, event), kind, id: String(row["id"]) })
  }
  return found
}

/** The canaries of `orangebox doctor` are no runs anybody means by `last`, and what a run started is part of it. */
function newestRuns(database: SqliteDatabase, before: number): Target[] {
  const rows = database.prepare(
    `SELECT * FROM run_rows WHERE app IS NOT ? AND ${FIRST_OF_TRACE} ORDER BY started_at DESC, key DESC LIMIT 3 OFFSET ?`,
  )
  return rows.all(CANARY_APP, before).map(runTarget)
}

function packedRange(text: string, digits: number): [Uint8Array, Uint8Array] | undefined {
  const range = hexRange(text, digits)
  return range && [Buffer.from(range[0], "hex"), Buffer.from(range[1], "hex")]
}

function runTarget(row: SqliteRow): Target {
  const runId = String(row["run_id"])
  const label = [row["app"], row["entrypoint"], row["status"]].filter((part) => part != null).join(" · ")
  return { kind: "run", id: runId, runId, stepId: null, label }
}

function stepTarget(row: SqliteRow, runId: string): Target {
  const stepId = unpackHex(row["step_id"])
  return { kind: "step", id: stepId, runId, stepId, label: `${STEP_KINDS[Number(row["kind"])]} ${String(row["name"])}` }
}

function bodyTarget(database: SqliteDatabase, row: SqliteRow): Target {
  const reference = database
    .prepare("SELECT event FROM body_refs WHERE body = ? ORDER BY event LIMIT 1")
    .get(Number(row["key"]))
  const event = reference && database.prepare("SELECT * FROM event_rows WHERE key = ?").get(Number(reference["event"]))
  const place = event ? eventTarget(database, event) : { runId: null, stepId: null }
  const label = `${Number(row["byte_size"])} bytes ${String(row["mime"] ?? "")}`.trim()
  return { kind: "body", id: unpackHash(row["hash"]), runId: place.runId, stepId: place.stepId, label }
}

function eventTarget(database: SqliteDatabase, row: SqliteRow): Target {
  const key = Number(row["key"])
  const run = key < 0 ? undefined : database.prepare("SELECT run_id FROM run_rows WHERE key = ?").get(runKeyOf(key))
  const type = database.prepare("SELECT name FROM event_types WHERE key = ?").get(Number(row["type"]))
  return {
    kind: "event",
    id: unpackUuid(row["event_id"]),
    runId: run ? String(run["run_id"]) : null,
    stepId: row["step_id"] === null ? null : unpackHex(row["step_id"]),
    label: String(type?.["name"]),
  }
}
