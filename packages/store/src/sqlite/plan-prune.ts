import { BODY, HELD } from "../codes.js"
import { AGED_CLASSES, EVICTED, type PruneReport, type RetentionPolicy } from "../retention.js"
import { DAY_MS } from "../sums/step-sums.js"
import type { SqliteDatabase } from "./driver.js"
import { runKeyOf } from "./keys.js"
import { bodyBytesOnDisk } from "./live-chunks.js"
import { agedRuns, oldNotes, orphanedBodies, type PruneContext, runsToEvict } from "./prune.js"

/** What `prune` would take, by the same choice of runs and rows. How much of the disk that frees is known only by doing it. */
export function planPrune(context: PruneContext, policy: RetentionPolicy): PruneReport {
  const { database, nowMs } = context
  const gone = new Set(policy.maxAgeMs === undefined ? [] : agedRuns(database, nowMs, nowMs - policy.maxAgeMs))
  const released = new Map<number, Set<number>>()
  const release = (run: number, heldAs: number): void => {
    released.set(run, (released.get(run) ?? new Set()).add(heldAs))
  }
  for (const [heldAs, name] of AGED_CLASSES) {
    const maxAgeMs = policy[name]
    if (maxAgeMs === undefined) continue
    for (const run of agedRuns(database, nowMs, nowMs - maxAgeMs, heldAs)) release(run, heldAs)
  }
  const bodyBytes = bodyBytesOnDisk(database)
  const isOver = policy.maxTotalBodyBytes !== undefined && bodyBytes > policy.maxTotalBodyBytes
  if (isOver) {
    for (const run of runsToEvict(context, policy.maxTotalBodyBytes!))
      for (const heldAs of EVICTED) release(run, heldAs)
  }
  const cutoff = policy.maxAgeMs === undefined ? Number.MIN_SAFE_INTEGER : nowMs - policy.maxAgeMs
  const count = (sql: string, ...values: number[]): number => Number(database.prepare(sql).get(...values)?.["total"])
  const orphans = orphanedBodies(database, nowMs).length
  let events = count("SELECT count(*) AS total FROM event_rows WHERE key < 0 AND at < ?", Math.floor(cutoff))
  for (const run of gone) events += count("SELECT events + annotations AS total FROM run_rows WHERE key = ?", run)
  return {
    runsPruned: gone.size,
    eventsPruned: events,
    bodiesPruned:
      orphans +
      bodiesThatGo(database, cutoff, (run, heldAs) => gone.has(run) || released.get(run)?.has(heldAs) === true),
    rollupsPruned:
      policy.rollupMaxAgeMs === undefined
        ? 0
        : count(
            "SELECT count(*) AS total FROM rollup_rows WHERE run = 0 AND day < ?",
            Math.floor((nowMs - policy.rollupMaxAgeMs) / DAY_MS),
          ),
    problemsPruned:
      policy.problemMaxAgeMs === undefined
        ? 0
        : oldNotes(nowMs - policy.problemMaxAgeMs).reduce(
            (sum, { from, value }) => sum + count(`SELECT count(*) AS total ${from}`, value),
            0,
          ),
    bodyBytesBefore: bodyBytes,
    bodyBytesAfter: null,
    orphans,
    isWithinLimits: true,
    isDryRun: true,
  }
}

/** Bodies that nothing would refer to any more. */
function bodiesThatGo(
  database: SqliteDatabase,
  cutoff: number,
  isReleased: (run: number, heldAs: number) => boolean,
): number {
  const rows = database.prepare(
    `SELECT body, event, class, event_rows.at AS at FROM body_refs JOIN body_rows ON body_rows.key = body AND state = ${BODY.here}
     LEFT JOIN event_rows ON event_rows.key = event AND event < 0`,
  )
  const stays = new Map<number, boolean>()
  for (const row of rows.iterate()) {
    const event = Number(row["event"])
    const goes = event < 0 ? Number(row["at"]) < cutoff : isReleased(runKeyOf(event), Number(row["class"]))
    const body = Number(row["body"])
    stays.set(body, (stays.get(body) ?? false) || !goes || (event === 0 && Number(row["class"]) === HELD.event))
  }
  return [...stays.values()].filter((isKept) => !isKept).length
}
