import { decodeBlock, encodeBlock } from "../bodies/block-format.js"
import type { BodyProblem } from "../bodies/body-problem.js"
import { BODY, HELD } from "../codes.js"
import { failpoint } from "../failpoint.js"
import { AGED_CLASSES, EVICTED, ORPHAN_GRACE_MS, type PruneReport, type RetentionPolicy } from "../retention.js"
import { DAY_MS, ROLLUP_SHAPES } from "../sums/step-sums.js"
import type { Progress } from "../trace-store.js"
import { type Connection, listOf, quote } from "./connection.js"
import { type CollectorFact, factsOf } from "./facts.js"
import { bodyRow, type StoredBodies } from "./stored-bodies.js"

export interface PruneContext {
  readonly connection: Connection
  readonly bodies: StoredBodies
  readonly nowMs: number
  /** Lets go of the shelf that this process writes to, so that its blocks may be rewritten. */
  readonly closeShelf: () => void
}

/** A closed run as retention sees it. */
interface ClosedRun {
  readonly runId: string
  readonly agedAtMs: number
  readonly released: number
}

/** So many runs are taken out at a time. */
const RUNS_AT_ONCE = 500
/** Rows that only some collector's memory may still rely on are left alone for this long. */
const SETTLED_MS = 2 * DAY_MS
const DEAD_SHARE = 0.25

/**
 * Forgets what is too old or too much, by the same choice as on any engine. A run that goes becomes a row that says so and keeps its sums, written at once;
 * from then on it is gone for every reader, and its other rows follow. Killed in between, the next one goes on with what such runs still have.
 */
export async function prune(
  context: PruneContext,
  policy: RetentionPolicy,
  { isDryRun = false, onProgress }: { readonly isDryRun?: boolean } & Progress,
): Promise<PruneReport> {
  const { connection, nowMs } = context
  const runs = await closedRuns(connection, nowMs)
  const bodyBytesBefore = await bodyBytesOnDisk(connection)
  const old = (maxAgeMs: number | undefined, held?: number): ClosedRun[] =>
    maxAgeMs === undefined
      ? []
      : runs.filter(
          ({ agedAtMs, released }) =>
            agedAtMs < nowMs - maxAgeMs && (held === undefined || (released & (1 << held)) === 0),
        )
  const gone = old(policy.maxAgeMs)
  const release = new Map<string, Set<number>>()
  const mark = (some: readonly ClosedRun[], held: number): void => {
    for (const { runId } of some) release.set(runId, (release.get(runId) ?? new Set()).add(held))
  }
  for (const [held, name] of AGED_CLASSES) mark(old(policy[name], held), held)
  const processCutoff = policy.maxAgeMs === undefined ? undefined : nowMs - policy.maxAgeMs

  const counted = await countWhatGoes(connection, policy, nowMs, gone, processCutoff)
  if (isDryRun) {
    const bodies = await bodiesThatGo(connection, gone, release, nowMs)
    return {
      runsPruned: gone.length,
      ...counted,
      bodiesPruned: bodies.released + bodies.orphans,
      bodyBytesBefore,
      bodyBytesAfter: null,
      orphans: bodies.orphans,
      isWithinLimits: true,
      isDryRun: true,
    }
  }

  let bodiesPruned = 0
  for (let from = 0; from < gone.length; from += RUNS_AT_ONCE) {
    onProgress?.(from, gone.length, "runs")
    await buryRuns(connection, gone.slice(from, from + RUNS_AT_ONCE), nowMs)
    failpoint("clickhouse:prune:buried")
  }
  bodiesPruned += await removeBuried(context, processCutoff)
  for (const [held] of AGED_CLASSES) {
    const some = [...release].filter(([, classes]) => classes.has(held)).map(([runId]) => runId)
    bodiesPruned += await releaseRuns(context, some, [held])
  }
  const orphans = await pruneUnreferred(context, `seen_at < ${nowMs - ORPHAN_GRACE_MS}`)
  let problem = bodiesPruned + orphans > 0 ? await collectDead(context) : undefined
  const limit = policy.maxTotalBodyBytes
  if (limit !== undefined && problem === undefined && (await bodyBytesOnDisk(connection)) > limit) {
    const evicted = await runsToEvict(context, limit)
    bodiesPruned += await releaseRuns(context, evicted, EVICTED)
    problem = await collectDead(context)
  }
  await forgetSums(connection, policy, nowMs)
  await forgetNotes(connection, policy, nowMs)
  await forgetTexts(connection, nowMs)
  onProgress?.(1, 1, "packs")
  const bodyBytesAfter = await bodyBytesOnDisk(connection)
  return {
    runsPruned: gone.length,
    ...counted,
    bodiesPruned: bodiesPruned + orphans,
    bodyBytesBefore,
    bodyBytesAfter,
    orphans,
    isWithinLimits: problem === undefined && (limit === undefined || bodyBytesAfter <= limit),
    isDryRun: false,
  }
}

/** Oldest first. An end in the future is a clock that jumped, so only the arrival counts. */
async function closedRuns(connection: Connection, nowMs: number): Promise<ClosedRun[]> {
  const rows = await connection.rows(
    `SELECT run_id, coalesce(ended_at, last_at) AS ended, ingested_at, released FROM run_rows FINAL WHERE state = 'here' AND status IN ('completed', 'failed', 'crashed')`,
  )
  return rows
    .map((row) => {
      const [ended, ingested] = [Number(row["ended"]), Number(row["ingested_at"])]
      const agedAtMs = ended > nowMs ? ingested : Math.max(ended, ingested)
      return { runId: String(row["run_id"]), agedAtMs, released: Number(row["released"]) }
    })
    .sort((one, other) => one.agedAtMs - other.agedAtMs || (one.runId < other.runId ? -1 : 1))
}

const bodyBytesOnDisk = (connection: Connection): Promise<number> =>
  connection.value("SELECT sum(size) FROM block_rows FINAL")

const oldDays = (nowMs: number, maxAgeMs: number): number => Math.floor((nowMs - maxAgeMs) / DAY_MS)

async function countWhatGoes(
  connection: Connection,
  { rollupMaxAgeMs, problemMaxAgeMs }: RetentionPolicy,
  nowMs: number,
  gone: readonly ClosedRun[],
  processCutoff: number | undefined,
): Promise<Pick<PruneReport, "eventsPruned" | "rollupsPruned" | "problemsPruned">> {
  const inGone = `run_id IN (${listOf(["", ...gone.map(({ runId }) => runId)])})`
  const outside = processCutoff === undefined ? "0" : `(startsWith(run_id, '~') AND at < ${Math.floor(processCutoff)})`
  const key = ROLLUP_SHAPES.steps.key.filter((name) => name !== "run").map((name) => `s.${name}`)
  return {
    eventsPruned: await connection.value(
      `SELECT count() FROM event_rows FINAL WHERE is_conflict = 0 AND (${inGone} OR ${outside})`,
    ),
    rollupsPruned:
      rollupMaxAgeMs === undefined
        ? 0
        : await connection.value(
            `SELECT count() FROM (SELECT DISTINCT ${key.join(", ")} FROM (SELECT arrayJoin(sums) AS s FROM run_rows FINAL WHERE state = 'pruned') WHERE s.day < ${oldDays(nowMs, rollupMaxAgeMs)})`,
          ),
    problemsPruned:
      problemMaxAgeMs === undefined
        ? 0
        : await connection.value(`SELECT count() FROM fact_rows FINAL WHERE ${oldNotes(nowMs - problemMaxAgeMs)}`),
  }
}

/** Gaps of runs that are here belong to them: without it, a run with a hole would look whole. */
const oldNotes = (cutoff: number): string =>
  `at < ${Math.floor(cutoff)} AND (kind = 'problem' OR (kind = 'gap' AND NOT hasAny(JSONExtract(json, 'runIds', 'Array(String)'), (SELECT groupArray(run_id) FROM run_rows FINAL WHERE state = 'here'))))`

async function bodiesThatGo(
  connection: Connection,
  gone: readonly ClosedRun[],
  release: ReadonlyMap<string, ReadonlySet<number>>,
  nowMs: number,
): Promise<{ released: number; orphans: number }> {
  const all = new Set(gone.map(({ runId }) => runId))
  const stays = new Map<string, boolean>()
  const refs = await connection.rows(
    `SELECT hash, run_id, class FROM ref_rows FINAL WHERE hash IN (SELECT hash FROM body_rows FINAL WHERE state = ${BODY.here})`,
  )
  for (const row of refs) {
    const [hash, runId] = [String(row["hash"]), String(row["run_id"])]
    const goes = all.has(runId) || release.get(runId)?.has(Number(row["class"])) === true
    stays.set(hash, (stays.get(hash) ?? false) || !goes)
  }
  const orphans = await connection.value(
    `SELECT count() FROM body_rows FINAL WHERE state = ${BODY.here} AND seen_at < ${nowMs - ORPHAN_GRACE_MS} AND hash NOT IN (SELECT hash FROM ref_rows)`,
  )
  return { released: [...stays.values()].filter((isKept) => !isKept).length, orphans }
}

/** From one row to the next a run is gone for every reader: its sums are kept, its name is remembered. */
async function buryRuns(connection: Connection, runs: readonly ClosedRun[], nowMs: number): Promise<void> {
  await connection.command(
    `INSERT INTO run_rows SELECT * REPLACE(version + 1 AS version, 'pruned' AS state, ${nowMs} AS pruned_at, NULL AS input_summary, NULL AS error_summary)
     FROM (SELECT * FROM run_rows FINAL WHERE state = 'here' AND run_id IN (${listOf(runs.map(({ runId }) => runId))}))`,
  )
}

/** Removes what pruned runs still have, and what processes said outside runs before the cutoff. */
async function removeBuried(context: PruneContext, processCutoff: number | undefined): Promise<number> {
  const { connection } = context
  const outside = processCutoff === undefined ? "0" : `(startsWith(run_id, '~') AND at < ${Math.floor(processCutoff)})`
  const buried = (table: string): Promise<string[]> =>
    connection
      .rows(
        `SELECT DISTINCT run_id FROM ${table} WHERE run_id IN (SELECT run_id FROM run_rows FINAL WHERE state = 'pruned')`,
      )
      .then((rows) => rows.map((row) => String(row["run_id"])))
  const left = new Set([...(await buried("event_rows")), ...(await buried("step_rows")), ...(await buried("ref_rows"))])
  const runs = `run_id IN (${listOf(["", ...left])})`
  const old = await connection.rows(`SELECT DISTINCT run_id, event_id FROM event_rows WHERE ${outside}`)
  if (left.size === 0 && old.length === 0) return 0
  const processes = `event_id IN (${listOf(["", ...old.map((row) => String(row["event_id"]))])})`
  const released = await hashesOf(connection, `${runs} OR ${processes}`)
  for (const table of ["id_rows", "ref_rows", "text_runs"])
    await connection.command(`DELETE FROM ${table} WHERE ${runs} OR ${processes}`)
  await connection.command(`DELETE FROM step_rows WHERE ${runs}`)
  await connection.command(`DELETE FROM event_rows WHERE ${runs} OR ${outside}`)
  if (left.size > 0)
    await connection.command(
      `DELETE FROM fact_rows WHERE kind = 'stream' AND JSONExtractString(json, 'runId') IN (${listOf(left)})`,
    )
  failpoint("clickhouse:prune:removed")
  return pruneUnreferred(context, `hash IN (${listOf(["", ...released])})`)
}

async function hashesOf(connection: Connection, condition: string): Promise<string[]> {
  const rows = await connection.rows(`SELECT DISTINCT hash FROM ref_rows WHERE ${condition}`)
  return rows.map((row) => String(row["hash"]))
}

/** Lets go of what runs hold for some reasons. */
async function releaseRuns(
  context: PruneContext,
  runIds: readonly string[],
  classes: readonly number[],
): Promise<number> {
  if (runIds.length === 0) return 0
  const { connection } = context
  const held = `run_id IN (${listOf(runIds)}) AND class IN (${classes.join(", ")})`
  const released = await hashesOf(connection, held)
  await connection.command(`DELETE FROM text_runs WHERE ${held}`)
  await connection.command(`DELETE FROM ref_rows WHERE ${held}`)
  const bits = classes.reduce((sum, one) => sum | (1 << one), 0)
  await connection.command(
    `INSERT INTO run_rows SELECT * REPLACE(version + 1 AS version, bitOr(released, ${bits}) AS released) FROM (SELECT * FROM run_rows FINAL WHERE state = 'here' AND run_id IN (${listOf(runIds)}))`,
  )
  return pruneUnreferred(context, `hash IN (${listOf(["", ...released])})`)
}

/** Bodies that nothing refers to any more become rows that say so. */
async function pruneUnreferred({ connection, bodies, nowMs }: PruneContext, condition: string): Promise<number> {
  const rows = await connection.rows(
    `SELECT hash FROM body_rows FINAL WHERE state = ${BODY.here} AND (${condition}) AND hash NOT IN (SELECT hash FROM ref_rows)`,
  )
  const states = await bodies.rowsOf(rows.map((row) => String(row["hash"])))
  const pruned = [...states.values()].map((body) =>
    bodyRow({
      ...body,
      version: body.version + 1,
      state: BODY.pruned,
      stateAtMs: nowMs,
      shelf: "",
      recipe: new Uint8Array(),
    }),
  )
  await connection.insert("body_rows", pruned)
  failpoint("clickhouse:prune:bodies")
  return pruned.length
}

interface ShelfBlock {
  readonly shelf: string
  readonly firstChunk: number
  readonly version: number
  readonly writtenOn: string
  readonly lengths: readonly number[]
  readonly size: number
}

async function blocksOf(connection: Connection): Promise<ShelfBlock[]> {
  const rows = await connection.rows(
    "SELECT shelf, first_chunk, version, written_on, lengths, size FROM block_rows FINAL ORDER BY shelf, first_chunk",
  )
  return rows.map((row) => ({
    shelf: String(row["shelf"]),
    firstChunk: Number(row["first_chunk"]),
    version: Number(row["version"]),
    writtenOn: String(row["written_on"]),
    lengths: row["lengths"] as number[],
    size: Number(row["size"]),
  }))
}

/** For every chunk of every shelf the highest rank among the bodies that need it. */
async function rankChunks(
  { bodies }: PruneContext,
  rankOf: (hash: string) => number,
): Promise<{ ranks: Map<string, Map<number, number>>; problem?: BodyProblem }> {
  const ranks = new Map<string, Map<number, number>>()
  for await (const body of bodies.here()) {
    const rank = rankOf(body.hash)
    const runs = await bodies.shelves.chunksOf(body)
    if (!Array.isArray(runs)) return { ranks, problem: runs }
    const known = ranks.get(body.shelf) ?? new Map<number, number>()
    ranks.set(body.shelf, known)
    for (const { first, count } of runs)
      for (let chunk = first; chunk < first + count; chunk++) known.set(chunk, Math.max(known.get(chunk) ?? 0, rank))
  }
  return { ranks }
}

/**
 * Gives back the blocks that no body needs, and rewrites those that few do. A shelf that another collector is writing to is left alone: it may be about to
 * build on any of its chunks.
 */
export async function collectDead(context: PruneContext, isThorough = false): Promise<BodyProblem | undefined> {
  const { connection, nowMs, closeShelf, bodies } = context
  closeShelf()
  const collectors = await factsOf<CollectorFact>(
    connection,
    "collector",
    `at > ${nowMs - SETTLED_MS} AND key != ${quote(connection.settings.collectorId)}`,
  )
  const busy = new Set(collectors.map(({ value }) => value.shelf))
  const blocks = await blocksOf(connection)
  const { ranks, problem } = await rankChunks(context, () => 1)
  if (problem !== undefined) return problem
  const dead = new Map<string, number[]>()
  for (const block of blocks) {
    if (busy.has(block.shelf)) continue
    const live = ranks.get(block.shelf)
    const isLive = (_: number, at: number): boolean => live?.has(block.firstChunk + at) === true
    const all = block.lengths.reduce((sum, length) => sum + length, 0)
    const kept = block.lengths.filter(isLive).reduce((sum, length) => sum + length, 0)
    if (kept === 0) dead.set(block.shelf, [...(dead.get(block.shelf) ?? []), block.firstChunk])
    else if (kept < all && (isThorough || (all - kept) / all >= DEAD_SHARE)) await rewrite(connection, block, isLive)
  }
  for (const [shelf, chunks] of dead)
    await connection.command(
      `DELETE FROM block_rows WHERE shelf = ${quote(shelf)} AND first_chunk IN (${chunks.join(", ")})`,
    )
  bodies.shelves.forget()
  return undefined
}

async function rewrite(
  connection: Connection,
  block: ShelfBlock,
  isLive: (length: number, at: number) => boolean,
): Promise<void> {
  const { shelf, firstChunk, version, writtenOn, lengths } = block
  const [row] = await connection.rows(
    `SELECT bytes FROM block_rows FINAL WHERE shelf = ${quote(shelf)} AND first_chunk = ${firstChunk}`,
  )
  const raw = decodeBlock(Buffer.from(String(row?.["bytes"] ?? ""), "base64"))
  // A block that cannot be read stays as it is: someone may still mend it.
  if (typeof raw === "string") return
  const pieces: Buffer[] = []
  let from = 0
  for (const [at, length] of lengths.entries()) {
    if (isLive(length, at)) pieces.push(raw.subarray(from, from + length))
    from += length
  }
  const bytes = encodeBlock(Buffer.concat(pieces), 9)
  await connection.insert("block_rows", [
    {
      shelf,
      first_chunk: firstChunk,
      version: version + 1,
      written_on: writtenOn,
      lengths: lengths.map((length, at) => (isLive(length, at) ? length : 0)),
      size: bytes.length,
      bytes: bytes.toString("base64"),
    },
  ])
}

/** The oldest closed runs whose bodies have to go to get under the limit: every chunk belongs to the newest run that needs it. */
async function runsToEvict(context: PruneContext, limit: number): Promise<string[]> {
  const { connection, nowMs } = context
  const runs = (await closedRuns(connection, nowMs)).filter(({ released }) => (released & (1 << HELD.body)) === 0)
  const rankOfRun = new Map(runs.map(({ runId }, index) => [runId, index + 1]))
  const staying = runs.length + 1
  const rankOfBody = new Map<string, number>()
  for (const row of await connection.rows("SELECT hash, run_id, class FROM ref_rows FINAL")) {
    const isEvictable = EVICTED.some((held) => held === Number(row["class"]))
    const rank = isEvictable ? (rankOfRun.get(String(row["run_id"])) ?? staying) : staying
    const hash = String(row["hash"])
    if ((rankOfBody.get(hash) ?? 0) < rank) rankOfBody.set(hash, rank)
  }
  const { ranks } = await rankChunks(context, (hash) => rankOfBody.get(hash) ?? staying)
  const freedBy = new Float64Array(staying + 1)
  let rest = 0
  for (const { shelf, firstChunk, lengths, size } of await blocksOf(connection)) {
    const all = lengths.reduce((sum, length) => sum + length, 0)
    rest += size
    lengths.forEach((length, at) => {
      freedBy[ranks.get(shelf)?.get(firstChunk + at) ?? 0]! += (size * length) / Math.max(all, 1)
    })
  }
  rest -= freedBy[0]!
  let count = 0
  while (rest > limit && count < runs.length) rest -= freedBy[++count]!
  return runs.slice(0, count).map(({ runId }) => runId)
}

/** The days before, of runs that are gone. */
async function forgetSums(connection: Connection, { rollupMaxAgeMs }: RetentionPolicy, nowMs: number): Promise<void> {
  if (rollupMaxAgeMs === undefined) return
  const day = oldDays(nowMs, rollupMaxAgeMs)
  const kept = (name: string): string => `arrayFilter(s -> s.day >= ${day}, ${name}) AS ${name}`
  await connection.command(
    `INSERT INTO run_rows SELECT * REPLACE(version + 1 AS version, ${kept("sums")}, ${kept("contributors")}) FROM (SELECT * FROM run_rows FINAL
     WHERE state = 'pruned' AND (arrayExists(s -> s.day < ${day}, sums) OR arrayExists(s -> s.day < ${day}, contributors)))`,
  )
}

async function forgetNotes(connection: Connection, { problemMaxAgeMs }: RetentionPolicy, nowMs: number): Promise<void> {
  if (problemMaxAgeMs === undefined) return
  const where = oldNotes(nowMs - problemMaxAgeMs)
  const rows = await connection.rows(`SELECT kind, key FROM fact_rows FINAL WHERE ${where}`)
  for (const kind of ["gap", "problem"]) {
    const keys = rows.filter((row) => row["kind"] === kind).map((row) => String(row["key"]))
    if (keys.length > 0)
      await connection.command(`DELETE FROM fact_rows WHERE kind = ${quote(kind)} AND key IN (${listOf(keys)})`)
  }
}

/** Texts that no run is linked with, unless they came so lately that a link may be under way. */
async function forgetTexts(connection: Connection, nowMs: number): Promise<void> {
  const unused = `at < ${nowMs - SETTLED_MS} AND digest NOT IN (SELECT digest FROM text_runs)`
  if ((await connection.value(`SELECT count() FROM (SELECT 1 FROM text_rows WHERE ${unused} LIMIT 1)`)) === 0) return
  await connection.command(`DELETE FROM text_rows WHERE ${unused}`)
}
