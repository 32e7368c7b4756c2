import { CANARY_APP } from "@orangebox/contract"
import { hexRange, type IdIndex, resolveInTime } from "../resolve-id.js"
import type { Resolution, Target, TargetKind } from "../trace-store.js"
import { type Connection, listOf, quote, type ServerRow } from "./connection.js"
import { FIRST_OF_TRACE, text as textOrNull } from "./read-runs.js"

const RUN = "run_id, app, entrypoint, status, trace_id, conversation_id, started_at"

export function resolve(connection: Connection, input: string): Promise<Resolution> {
  const index: IdIndex<Promise<readonly Target[]>> = {
    recordedAs: async (text) => [
      ...(await runs(connection, `run_id = ${quote(text)}`, 2)),
      ...(await steps(connection, `step_id = ${quote(text)}`, 2)),
    ],
    beginningWith: (text, limit) => beginningWith(connection, text, limit),
    stepOf: (runId, no) => steps(connection, `run_id = ${quote(runId)} AND no = ${no}`, 1),
    newestRuns: (before) => newestRuns(connection, before),
    prunedAt: async (runId) =>
      (
        await connection.rows(
          `SELECT pruned_at FROM run_rows FINAL WHERE run_id = ${quote(runId)} AND state = 'pruned'`,
        )
      ).map((row) => Number(row["pruned_at"])),
  }
  return resolveInTime(index, input)
}

async function runs(connection: Connection, condition: string, limit: number): Promise<Target[]> {
  const rows = await connection.rows(
    `SELECT ${RUN} FROM run_rows FINAL WHERE state = 'here' AND ${condition} ORDER BY run_id LIMIT ${limit}`,
  )
  return rows.map(runTarget)
}

async function steps(connection: Connection, condition: string, limit: number): Promise<Target[]> {
  const rows = await connection.rows(
    `SELECT run_id, step_id, kind, name FROM step_rows FINAL WHERE ${condition} AND run_id IN (SELECT run_id FROM run_rows FINAL WHERE state = 'here') LIMIT ${limit}`,
  )
  return rows.map((row) => {
    const stepId = String(row["step_id"])
    const label = `${String(row["kind"])} ${String(row["name"] ?? "")}`
    return { kind: "step", id: stepId, runId: String(row["run_id"]), stepId, label }
  })
}

async function newestRuns(connection: Connection, before: number): Promise<Target[]> {
  const rows = await connection.rows(
    `SELECT ${RUN} FROM run_rows FINAL WHERE state = 'here' AND coalesce(app, '') != ${quote(CANARY_APP)} AND ${FIRST_OF_TRACE}
     ORDER BY started_at DESC, run_id DESC LIMIT 3 OFFSET ${before}`,
  )
  return rows.map(runTarget)
}

async function beginningWith(connection: Connection, text: string, limit: number): Promise<Target[]> {
  const runText = text.startsWith("run_") ? text : `run_${text.toUpperCase()}`
  const found = await runs(connection, `startsWith(run_id, ${quote(runText)})`, limit)
  for (const [column, kind] of [
    ["trace_id", "trace"],
    ["conversation_id", "conversation"],
  ] as const) {
    const rows = await connection.rows(
      `SELECT ${column} AS id, argMax(run_id, started_at) AS newest FROM run_rows FINAL WHERE state = 'here' AND startsWith(coalesce(${column}, ''), ${quote(text)}) AND ${column} IS NOT NULL
       GROUP BY ${column} LIMIT ${limit}`,
    )
    const newest = await runs(
      connection,
      `run_id IN (${listOf(["", ...rows.map((row) => String(row["newest"]))])})`,
      limit,
    )
    for (const row of rows) {
      const run = newest.find(({ id }) => id === row["newest"])
      if (run !== undefined) found.push({ ...run, kind, id: String(row["id"]) })
    }
  }
  if (hexRange(text, 16) !== undefined)
    found.push(...(await steps(connection, `startsWith(step_id, ${quote(text)})`, limit)))
  const hash = text.replace(/^sha256:/, "")
  if (hexRange(hash, 64) !== undefined) found.push(...(await bodies(connection, `sha256:${hash}`, limit)))
  const bare = text.replaceAll("-", "")
  if (hexRange(bare, 32) !== undefined)
    found.push(...(await mentions(connection, uuidPrefix(bare), limit, "kind = 'event'")))
  const ids = await mentions(connection, text, limit, "kind NOT IN ('event', 'step', 'linked')")
  // Runs of the conversation say it first.
  const known = new Set(found.filter(({ kind }) => kind === "conversation").map(({ id }) => id))
  found.push(...ids.filter(({ kind, id }) => kind !== "conversation" || !known.has(id)))
  return found
}

async function mentions(connection: Connection, text: string, limit: number, condition: string): Promise<Target[]> {
  const rows = await connection.rows(
    `SELECT id, kind, argMin(run_id, (at, place)) AS run, argMin(step_id, (at, place)) AS step, argMin(event_type, (at, place)) AS type
     FROM id_rows WHERE startsWith(id, ${quote(text)}) AND ${condition} GROUP BY id, kind ORDER BY id, kind LIMIT ${limit}`,
  )
  return rows.map((row) => ({
    kind: String(row["kind"]) as TargetKind,
    id: String(row["id"]),
    runId: runIdOf(row["run"]),
    stepId: textOrNull(row["step"]),
    label: String(row["type"]),
  }))
}

async function bodies(connection: Connection, text: string, limit: number): Promise<Target[]> {
  const rows = await connection.rows(
    `SELECT hash, byte_size, mime FROM body_rows FINAL WHERE startsWith(hash, ${quote(text)}) ORDER BY hash LIMIT ${limit}`,
  )
  const places = await connection.rows(
    `SELECT hash, argMin(run_id, (at, place)) AS run, argMin(step_id, (at, place)) AS step FROM ref_rows WHERE hash IN (${listOf(["", ...rows.map((row) => String(row["hash"]))])}) GROUP BY hash`,
  )
  return rows.map((row) => {
    const place: ServerRow | undefined = places.find((one) => one["hash"] === row["hash"])
    const label = `${Number(row["byte_size"])} bytes ${String(row["mime"] ?? "")}`.trim()
    return {
      kind: "body",
      id: String(row["hash"]),
      runId: runIdOf(place?.["run"]),
      stepId: textOrNull(place?.["step"]),
      label,
    }
  })
}

/** What was said outside runs is in none. */
const runIdOf = (value: unknown): string | null =>
  value == null || String(value).startsWith("~") ? null : String(value)

function uuidPrefix(bare: string): string {
  return [bare.slice(0, 8), bare.slice(8, 12), bare.slice(12, 16), bare.slice(16, 20), bare.slice(20)]
    .filter((part) => part !== "")
    .join("-")
}

function runTarget(row: ServerRow): Target {
  const runId = String(row["run_id"])
  const label = [row["app"], row["entrypoint"], row["status"]].filter((part) => part != null).join(" · ")
  return { kind: "run", id: runId, runId, stepId: null, label }
}
