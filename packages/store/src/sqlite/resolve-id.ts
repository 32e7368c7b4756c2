import { CANARY_APP } from "@orangebox/contract"
import type { Resolution, Target, TargetKind } from "../trace-store.js"
import { ID_KINDS, STEP_KINDS } from "./codes.js"
import type { SqliteDatabase, SqliteRow } from "./driver.js"
import { eventKey, packHex, runKeyOf, unpackHash, unpackHex, unpackUuid } from "./keys.js"
import { FIRST_OF_TRACE } from "./read-runs.js"

const MAX_CANDIDATES = 10

/**
 * From whatever id the caller has to the place it stands for. A whole id or a prefix that only one thing has; `last` is the
 * newest run that is no canary and that no other run started, and `last~1` the one before, as version control counts; `<run>#<n>` is a step by its number.
 */
export function resolve(database: SqliteDatabase, input: string): Resolution {
  const text = input.trim()
  const recorded = isOurWord(text) ? [] : recordedAs(database, text)
  if (recorded.length === 1) return { found: "one", target: recorded[0]! }
  const address = /^(.*)#(\d+)$/s.exec(text)
  if (address && /^(?:last(?:~\d+)?|run_.*)?$/s.test(address[1]!)) {
    return resolveStepAddress(database, address[1]!, Number(address[2]))
  }
  if (text === "") return { found: "none", nearest: newestRuns(database) }
  const [last, back = "0"] = /^last(?:~(\d{1,9}))?$/.exec(text) ?? []
  if (last !== undefined) {
    const [target] = newestRuns(database, Number(back))
    return target === undefined ? { found: "none", nearest: newestRuns(database) } : { found: "one", target }
  }
  const candidates = lookups(database, text)
  const exact = candidates.filter(
    (target) => target.id === text || target.id === `sha256:${text}` || target.id === `run_${text}`,
  )
  const found = exact.length > 0 ? preferred(exact) : candidates
  if (found.length === 1) return { found: "one", target: found[0]! }
  if (found.length > 1) return { found: "many", candidates: found.slice(0, MAX_CANDIDATES), total: found.length }
  // Ids that others choose may hold a #; only what is no such id is the step of a run.
  if (address) return resolveStepAddress(database, address[1]!, Number(address[2]))
  const buried = database.prepare("SELECT buried_at FROM buried_runs WHERE run_id = ?").get(text)
  return {
    found: "none",
    nearest: nearest(database, text),
    ...(buried === undefined ? {} : { pruned: { onMs: Number(buried["buried_at"]) } }),
  }
}

/** `last`, `last~1`, `#13`, `last#13`: whatever ids hold, these never mean one. */
const isOurWord = (text: string): boolean => /^(?:last(?:~\d+)?)?(?:#\d+)?$/.test(text)

/** Runs and steps with exactly this id, which may be any text: what was recorded is not always what the contract asks for. */
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

/** The same tool call stands on its call and its result: one step, one answer. */
function preferred(targets: readonly Target[]): Target[] {
  const seen = new Map<string, Target>()
  for (const target of targets) {
    const place = `${target.kind} ${target.runId} ${target.stepId}`
    if (!seen.has(place)) seen.set(place, target)
  }
  return [...seen.values()]
}

function resolveStepAddress(database: SqliteDatabase, run: string, no: number): Resolution {
  const resolution = resolve(database, run === "" ? "last" : run)
  if (resolution.found !== "one") return resolution
  if (resolution.target.kind !== "run") return { found: "none", nearest: [resolution.target] }
  const runId = resolution.target.id
  const runKey = Number(database.prepare("SELECT key FROM run_rows WHERE run_id = ?").get(runId)?.["key"])
  const step = database.prepare("SELECT * FROM step_rows WHERE key = ?").get(eventKey(runKey, no))
  if (step !== undefined) return { found: "one", target: stepTarget(step, runId) }
  return { found: "none", nearest: [resolution.target] }
}

function lookups(database: SqliteDatabase, text: string): Target[] {
  const limit = MAX_CANDIDATES + 1
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

  const steps = hexRange(text, 16)
  if (steps !== undefined) {
    const rows = database
      .prepare(
        `SELECT step_rows.*, run_rows.run_id AS run_id FROM step_rows JOIN run_rows ON run_rows.key = step_rows.key / ${eventKey(1, 0)}
         WHERE step_rows.step_id >= ? AND step_rows.step_id <= ? LIMIT ?`,
      )
      .all(...steps, limit)
    for (const row of rows) found.push(stepTarget(row, String(row["run_id"])))
  }

  const bodies = hexRange(text.replace(/^sha256:/, ""), 64)
  if (bodies !== undefined) {
    const rows = database.prepare("SELECT * FROM body_rows WHERE hash >= ? AND hash <= ? LIMIT ?").all(...bodies, limit)
    for (const row of rows) found.push(bodyTarget(database, row))
  }

  const events = hexRange(text.replaceAll("-", ""), 32)
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

/** Ids of the same kind that share the longest beginning with what was asked. */
function nearest(database: SqliteDatabase, text: string): Target[] {
  for (let length = text.length - 1; length >= 6; length--) {
    const found = lookups(database, text.slice(0, length))
    if (found.length > 0) return found.slice(0, 3)
  }
  return newestRuns(database)
}

/** The canaries of `orangebox doctor` are no runs anybody means by `last`, and what a run started is part of it. */
function newestRuns(database: SqliteDatabase, before = 0): Target[] {
  const rows = database.prepare(
    `SELECT * FROM run_rows WHERE app IS NOT ? AND ${FIRST_OF_TRACE} ORDER BY started_at DESC, key DESC LIMIT 3 OFFSET ?`,
  )
  return rows.all(CANARY_APP, before).map(runTarget)
}

/** The smallest and largest packed id that begin with these hex digits. */
function hexRange(text: string, digits: number): [Uint8Array, Uint8Array] | undefined {
  if (text.length < 4 || text.length > digits || !/^[0-9a-f]+$/.test(text)) return undefined
  return [Buffer.from(text.padEnd(digits, "0"), "hex"), Buffer.from(text.padEnd(digits, "f"), "hex")]
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
