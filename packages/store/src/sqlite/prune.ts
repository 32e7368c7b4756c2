import { decodeLengths } from "../bodies/varint.js"
import { BODY, HELD } from "../codes.js"
import { failpoint } from "../failpoint.js"
import { AGED_CLASSES, EVICTED, ORPHAN_GRACE_MS, type PruneReport, type RetentionPolicy } from "../retention.js"
import { DAY_MS } from "../sums/step-sums.js"
import type { Progress } from "../trace-store.js"
import type { BodyStorage } from "./body-storage.js"
import type { SqliteDatabase } from "./driver.js"
import { runKeyOf } from "./keys.js"
import { bodyBytesOnDisk, rankChunks } from "./live-chunks.js"
import {
  pruneBodies,
  type ReleaseContext,
  releaseRefs,
  releaseRun,
  removeEvents,
  removeLeavingRuns,
  unlinkText,
} from "./release.js"

const CLOSED = "status IN ('completed', 'failed', 'crashed')"

/**
 * When a run became old: at its end, or when its last record arrived, where that was later (an import). An end in the future is a clock
 * that jumped, so only the arrival counts; an arrival in the future is our own clock having jumped back, and the run stays.
 */
const AGED_AT =
  "CASE WHEN coalesce(ended_at, last_at) > ?1 THEN ingested_at ELSE max(coalesce(ended_at, last_at), ingested_at) END"

export type PruneContext = ReleaseContext & { readonly storage: BodyStorage }

/** Gaps of runs that are here belong to them: without it, a run with a hole would look whole. */
export const oldNotes = (cutoff: number): { from: string; value: number }[] => [
  { from: "FROM problem_rows WHERE at < ?", value: cutoff },
  {
    from: "FROM gap_rows WHERE at < ? AND NOT EXISTS (SELECT 1 FROM gap_runs JOIN run_rows ON run_rows.run_id = gap_runs.run_id WHERE gap = gap_rows.key)",
    value: cutoff,
  },
]

export async function prune(
  context: PruneContext,
  policy: RetentionPolicy,
  { onProgress }: Progress,
): Promise<PruneReport> {
  const { database, transact, nowMs } = context
  const bodyBytesBefore = bodyBytesOnDisk(database)
  const removed = await removeLeavingRuns(context)
  let { events: eventsPruned, bodies: bodiesPruned } = removed
  let runsPruned = 0

  if (policy.maxAgeMs !== undefined) {
    const cutoff = nowMs - policy.maxAgeMs
    const old = agedRuns(database, nowMs, cutoff)
    for (const [index, run] of old.entries()) {
      onProgress?.(index, old.length, "runs")
      await buryRun(context, run)
      const { events, bodies } = await removeLeavingRuns(context)
      runsPruned++
      eventsPruned += events
      bodiesPruned += bodies
    }
    eventsPruned += await pruneProcessEvents(context, cutoff)
  }

  for (const [heldAs, name] of AGED_CLASSES) {
    const maxAgeMs = policy[name]
    if (maxAgeMs === undefined) continue
    const old = agedRuns(database, nowMs, nowMs - maxAgeMs, heldAs)
    for (const [index, run] of old.entries()) {
      onProgress?.(index, old.length, "bodies")
      bodiesPruned += await releaseRun(context, run, [heldAs])
      await transact(() => markReleased(database, run, [heldAs]))
    }
  }

  const orphans = await pruneOrphans(context)
  let isMarked = true
  if (policy.maxTotalBodyBytes !== undefined && bodyBytesOnDisk(database) > policy.maxTotalBodyBytes) {
    isMarked = await collectDead(context)
    for (const run of isMarked ? runsToEvict(context, policy.maxTotalBodyBytes) : []) {
      bodiesPruned += await releaseRun(context, run, EVICTED)
      await transact(() => markReleased(database, run, EVICTED))
    }
  }
  isMarked = (await collectDead(context)) && isMarked
  onProgress?.(1, 1, "packs")

  const { rollupMaxAgeMs, problemMaxAgeMs } = policy
  const rollupsPruned =
    rollupMaxAgeMs === undefined
      ? 0
      : await transact(() => context.rollups.forgetBefore(Math.floor((nowMs - rollupMaxAgeMs) / DAY_MS)))
  const problemsPruned =
    problemMaxAgeMs === undefined ? 0 : await transact(() => forgetNotes(database, nowMs - problemMaxAgeMs))
  const bodyBytesAfter = bodyBytesOnDisk(database)
  return {
    runsPruned,
    eventsPruned,
    bodiesPruned: bodiesPruned + orphans,
    rollupsPruned,
    problemsPruned,
    bodyBytesBefore,
    bodyBytesAfter,
    orphans,
    isWithinLimits: isMarked && (policy.maxTotalBodyBytes === undefined || bodyBytesAfter <= policy.maxTotalBodyBytes),
    isDryRun: false,
  }
}

function forgetNotes(database: SqliteDatabase, cutoff: number): number {
  let gone = 0
  for (const { from, value } of oldNotes(cutoff)) gone += Number(database.prepare(`DELETE ${from}`).run(value).changes)
  database.exec("DELETE FROM gap_runs WHERE NOT EXISTS (SELECT 1 FROM gap_rows WHERE gap_rows.key = gap)")
  return gone
}

/** Closed runs that became old before the cutoff, oldest first. With a class, only those that still hold something in it. */
export function agedRuns(database: SqliteDatabase, nowMs: number, cutoff: number, heldAs?: number): number[] {
  const holding = heldAs === undefined ? "" : `AND (released & ${1 << heldAs}) = 0`
  return database
    .prepare(`SELECT key FROM run_rows WHERE ${CLOSED} AND ${AGED_AT} < ?2 ${holding} ORDER BY ${AGED_AT}, key`)
    .all(nowMs, cutoff)
    .map((row) => Number(row["key"]))
}

function markReleased(database: SqliteDatabase, run: number, classes: readonly number[]): void {
  const bits = classes.reduce((sum, heldAs) => sum | (1 << heldAs), 0)
  database.prepare("UPDATE run_rows SET released = released | ? WHERE key = ?").run(bits, run)
}

/** From one moment to the next a run is gone for every reader: its roll-ups are kept, its name is remembered, its rows follow. */
async function buryRun({ database, transact, bury, rollups, nowMs }: ReleaseContext, runKey: number): Promise<void> {
  await transact(() => {
    const run = database.prepare("SELECT run_id FROM run_rows WHERE key = ?").get(runKey)
    if (run === undefined) return
    const runId = String(run["run_id"])
    rollups.keep(runKey)
    bury([{ kind: "run", runId, atMs: nowMs }])
    database.prepare("INSERT OR REPLACE INTO buried_runs (run_id, buried_at) VALUES (?, ?)").run(runId, nowMs)
    database.prepare("INSERT INTO leaving_runs (run, run_id) VALUES (?, ?)").run(runKey, runId)
    database
      .prepare(
        "INSERT OR REPLACE INTO meta (name, value) SELECT 'last_run', max(max(key), coalesce((SELECT value FROM meta WHERE name = 'last_run'), 0)) FROM run_rows",
      )
      .run()
    database.prepare("DELETE FROM run_rows WHERE key = ?").run(runKey)
    failpoint("prune:bury")
  })
}

/** What processes said outside any run: old by its own time, unless that is in the future. */
async function pruneProcessEvents(context: ReleaseContext, cutoff: number): Promise<number> {
  const { database, transact } = context
  const old = `AND at < ${Math.floor(cutoff)}`
  const keys = database
    .prepare(`SELECT key FROM event_rows WHERE key < 0 ${old}`)
    .all()
    .map((row) => Number(row["key"]))
  for (const key of keys) {
    for (const heldAs of Object.values(HELD)) await releaseRefs(context, key, key, heldAs)
  }
  const gone = new Set(keys)
  const texts = database.prepare("SELECT class, text, event FROM text_runs WHERE run = 0").all()
  await transact(() => {
    for (const row of texts) {
      if (gone.has(Number(row["event"]))) unlinkText(database, Number(row["text"]), 0, Number(row["class"]))
    }
  })
  return keys.length === 0 ? 0 : removeEvents(context, Number.MIN_SAFE_INTEGER, -1, old)
}

export function orphanedBodies(database: SqliteDatabase, nowMs: number): number[] {
  return database
    .prepare(
      `SELECT key FROM body_rows WHERE state = ${BODY.here} AND seen_at < ?
       AND NOT EXISTS (SELECT 1 FROM body_refs WHERE body = body_rows.key)`,
    )
    .all(nowMs - ORPHAN_GRACE_MS)
    .map((row) => Number(row["key"]))
}

async function pruneOrphans({ database, transact, bury, nowMs }: ReleaseContext): Promise<number> {
  const orphans = orphanedBodies(database, nowMs)
  if (orphans.length === 0) return 0
  return transact(() => pruneBodies(database, orphans, nowMs, bury))
}

/** Frees the chunks nothing needs. False when it could not be said which those are, so that all of them stay. */
export async function collectDead(
  { database, storage, transact }: ReleaseContext & { readonly storage: BodyStorage },
  isThorough = false,
): Promise<boolean> {
  if (database.prepare("SELECT 1 FROM meta WHERE name = 'has_dead_chunks'").get() === undefined) return true
  const { ranks, problem } = rankChunks(database, storage, () => 1)
  if (problem !== undefined) return false
  await storage.collectDead((chunk) => ranks[chunk] === 0, transact, isThorough)
  await transact(() => database.prepare("DELETE FROM meta WHERE name = 'has_dead_chunks'").run())
  return true
}

/**
 * The oldest closed runs whose bodies have to go to get under the limit. In one session each request holds the one before, so evicting
 * a body frees nothing while a newer one has the same chunks: every chunk belongs to the newest run that needs it.
 */
export function runsToEvict(
  { database, storage, nowMs }: ReleaseContext & { readonly storage: BodyStorage },
  limit: number,
): number[] {
  const runs = agedRuns(database, nowMs, Number.MAX_SAFE_INTEGER, HELD.body)
  const rankOfRun = new Map(runs.map((run, index) => [run, index + 1]))
  const staying = runs.length + 1
  const rankOfBody = new Map<number, number>()
  for (const row of database.prepare("SELECT body, event, class FROM body_refs").iterate()) {
    const event = Number(row["event"])
    const rank =
      event < 0 || !EVICTED.some((heldAs) => heldAs === Number(row["class"]))
        ? staying
        : (rankOfRun.get(runKeyOf(event)) ?? staying)
    const body = Number(row["body"])
    if ((rankOfBody.get(body) ?? 0) < rank) rankOfBody.set(body, rank)
  }
  const { ranks } = rankChunks(database, storage, (body) => rankOfBody.get(body) ?? staying)

  const freedBy = new Float64Array(staying + 1)
  for (const block of database.prepare("SELECT first_chunk, size, lengths FROM block_rows").iterate()) {
    const lengths = decodeLengths(block["lengths"] as Uint8Array)
    const raw = lengths.reduce((sum, length) => sum + length, 0)
    const first = Number(block["first_chunk"])
    lengths.forEach((length, index) => {
      freedBy[ranks[first + index]!]! += (Number(block["size"]) * length) / Math.max(raw, 1)
    })
  }
  let rest = bodyBytesOnDisk(database) - freedBy[0]!
  let count = 0
  while (rest > limit && count < runs.length) rest -= freedBy[++count]!
  return runs.slice(0, count)
}
