import { runDigest } from "@orangebox/contract"
import { isAbsent, type RecordedBody, type TraceReader, type TraceStore } from "@orangebox/store"
import { everyRun } from "../run/load-run.js"

export interface CopyReport {
  readonly runs: number
  /** Had all of it already: of an earlier copy that broke off. */
  readonly runsThere: number
  readonly events: number
  readonly bodies: number
  /** Runs whose events do not have the digest there that they have here, or whose bodies are not all there. */
  readonly different: readonly string[]
}

const EVENTS_AT_ONCE = 2000
const BODIES_AT_ONCE = 50

/**
 * Copies what one store holds into another, run by run, and reads each back: a run is copied when its events there have the digest that they have here
 * and its bodies are there. Writing is idempotent, so a copy that broke off is simply started again.
 */
export async function copyStore(
  from: TraceReader,
  to: TraceStore,
  onProgress: (done: number, total: number | undefined, what: string) => void = () => {},
): Promise<CopyReport> {
  await copyWriters(from, to)
  const runIds: string[] = []
  for await (const { runId } of everyRun(from, {})) runIds.push(runId)
  const report = { runs: 0, runsThere: 0, events: 0, bodies: 0, different: [] as string[] }
  for (const [index, runId] of runIds.reverse().entries()) {
    onProgress(index, runIds.length, "runs")
    const copied = await copyRun(from, to, runId)
    report.runs++
    report.events += copied.events
    report.bodies += copied.bodies
    if (copied.wasThere) report.runsThere++
    if (copied.isDifferent) report.different.push(runId)
  }
  return report
}

async function copyWriters(from: TraceReader, to: TraceStore): Promise<void> {
  const writers = await from.writers()
  const known = new Set((await to.writers()).map(({ writerId }) => writerId))
  await to.commit({
    writers: writers
      .filter(({ writerId }) => !known.has(writerId))
      .map(({ exit: _, file, lastSeenAtMs, ...writer }) => ({
        ...writer,
        ...(file === null ? {} : { file }),
        ...(lastSeenAtMs === null ? {} : { lastSeenAtMs }),
      })),
    exits: writers.flatMap(({ writerId, exit, lastSeenAtMs }) =>
      exit === null || known.has(writerId) ? [] : [{ writerId, exit, atMs: lastSeenAtMs ?? 0 }],
    ),
  })
  for (const { writerId } of writers) {
    const { events } = await from.processEventsOf(writerId)
    if (events.length > 0) await to.commit({ events: events.map((event) => ({ event, writerId })) })
  }
}

async function copyRun(
  from: TraceReader,
  to: TraceStore,
  runId: string,
): Promise<{ events: number; bodies: number; wasThere: boolean; isDifferent: boolean }> {
  const writerId = (await from.getRun(runId))?.writerId ?? null
  const { events } = await from.eventsOf(runId)
  const annotations = await from.annotationsOf(runId)
  const all = [...events, ...annotations]
  const hashes = [
    ...new Set(all.flatMap(({ artifact_refs }) => artifact_refs.map(({ artifact_hash }) => artifact_hash))),
  ]
  const digest = runDigest(events)
  const isThere = async (): Promise<boolean> =>
    runDigest((await to.eventsOf(runId)).events) === digest &&
    (await to.annotationsOf(runId)).length >= annotations.length &&
    !(await areBodiesMissing(from, to, hashes))
  const counts = { events: all.length, bodies: hashes.length }
  if (await isThere()) return { ...counts, wasThere: true, isDifferent: false }
  for (let at = 0; at < hashes.length; at += BODIES_AT_ONCE)
    await to.commit({ bodies: await bodiesOf(from, hashes.slice(at, at + BODIES_AT_ONCE)) })
  for (let at = 0; at < all.length; at += EVENTS_AT_ONCE) {
    const some = all.slice(at, at + EVENTS_AT_ONCE).map((event) => ({ event, writerId }))
    await to.commit({ events: some, gaps: at === 0 ? await from.gapsOf(runId) : [] })
  }
  return { ...counts, wasThere: false, isDifferent: !(await isThere()) }
}

async function bodiesOf(from: TraceReader, hashes: readonly string[]): Promise<RecordedBody[]> {
  const readings = await from.readBodies(hashes)
  return readings.flatMap((reading, at) => {
    if (isAbsent(reading)) return []
    const { bytes, byteSize, mime } = reading
    return [{ hash: hashes[at]!, bytes, byteSize, ...(mime === null ? {} : { mime }) }]
  })
}

/** Whether a body is here and not there. Each is read whole, and its hash with it. */
async function areBodiesMissing(from: TraceReader, to: TraceReader, hashes: readonly string[]): Promise<boolean> {
  for (let at = 0; at < hashes.length; at += BODIES_AT_ONCE) {
    const some = hashes.slice(at, at + BODIES_AT_ONCE)
    const [here, there] = [await from.readBodies(some), await to.readBodies(some)]
    if (some.some((_, index) => !isAbsent(here[index]!) && isAbsent(there[index]!))) return true
  }
  return false
}
