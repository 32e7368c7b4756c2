import { type Event, runDigest } from "@orangebox/contract"
import { type RunInput, type RunView, viewRun } from "@orangebox/query"
import { fillDerived } from "@orangebox/runs"
import { END_IN_DOUBT, type Gap, type RunQuery, type TraceReader } from "@orangebox/store"
import type { RunHead, RunReader } from "../open/run-reader.js"
import { pricesFor } from "./prices.js"

/** Everything that is stored about one run, and the view that all readers share. */
export interface LoadedRun {
  readonly row: RunHead
  /** The run's own events, in order, with what was derived of its calls where they are silent. */
  readonly events: readonly Event[]
  /** The same as they were recorded. */
  readonly recorded: readonly Event[]
  /** What others said about it. */
  readonly annotations: readonly Event[]
  /** Events that were lost and whose loss is on record. */
  readonly declaredLost: number
  /** Of the events that are here. */
  readonly digest: string
  readonly view: RunView
}

/** A run by its id; the one that was loaded before, where the reader keeps them and nothing has changed. */
export function loadRun(store: RunReader, runId: string): Promise<LoadedRun | undefined> {
  return keepers.get(store)?.load(runId) ?? loadAfresh(store, runId)
}

/** From now on the runs of this reader are loaded by `keeper`. */
export function keepRunsOf(store: RunReader, keeper: RunKeeper): void {
  keepers.set(store, keeper)
}

interface RunKeeper {
  load(runId: string): Promise<LoadedRun | undefined>
}

const keepers = new WeakMap<RunReader, RunKeeper>()

export async function loadAfresh(store: RunReader, runId: string): Promise<LoadedRun | undefined> {
  const row = await store.getRun(runId)
  if (!row) return undefined
  const recorded = await allEvents(store, runId)
  const [annotations, gaps, partials, inbound] = await Promise.all([
    store.annotationsOf(runId),
    store.gapsOf(runId),
    store.partialStreamsOf(runId),
    store.linksTo(runId),
  ])
  // Hashing every event takes as long as reading them, and few readers show it.
  let known: string | undefined
  const digest = (): string => {
    known ??= runDigest(recorded)
    return known
  }
  const ownGaps = gaps.map((gap) => gapOf(gap, runId))
  const events = fillDerived(recorded, annotations)
  const view = viewRun({
    events: [...events, ...annotations],
    gaps: ownGaps,
    partials: partials.flatMap(({ stepId, role, byteSize, withheldBytes }) =>
      stepId === null ? [] : [{ stepId, role, byteSize, ...(withheldBytes > 0 ? { withheldBytes } : {}) }],
    ),
    inbound,
    isWriterAlive: row.status === "running",
    prices: pricesFor(process.cwd()),
    get digest() {
      return row.lacksEvents ? undefined : digest()
    },
  })
  const declaredLost = ownGaps.reduce((sum, { count }) => sum + count, 0)
  return {
    ...{ row, events, recorded, annotations, declaredLost, view },
    get digest() {
      return digest()
    },
  }
}

/** The run's own events, page by page. */
export async function allEvents(store: RunReader, runId: string): Promise<Event[]> {
  const events: Event[] = []
  for (let from: number | undefined = 0; from !== undefined; ) {
    const page = await store.eventsOf(runId, { from })
    // Not spread into push: a page may hold more events than a call takes arguments.
    for (const event of page.events) events.push(event)
    from = page.nextFrom
  }
  return events
}

/** The runs a query finds, over all its pages, each with how many there are. */
export async function* everyRun(
  store: TraceReader,
  query: RunQuery,
): AsyncGenerator<{ readonly runId: string; readonly total: number }> {
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const page = await store.listRuns({ limit: PAGE, ...query, ...(cursor === undefined ? {} : { cursor }) })
    for (const { runId } of page.rows) yield { runId, total: page.total }
    cursor = page.cursor
  }
}

const PAGE = 200

/** All runs of a conversation or of a trace, oldest first, as it is read. */
export async function loadRuns(
  store: TraceReader,
  query: Pick<RunQuery, "conversationId" | "traceId">,
): Promise<RunView[]> {
  const views: RunView[] = []
  for await (const { runId } of everyRun(store, query)) {
    const run = await loadRun(store, runId)
    if (run) views.push(run.view)
  }
  return views.reverse()
}

/** A journal's gap record lists the runs it took from, each with its own range; the whole gap may be larger. */
function gapOf(gap: Gap, runId: string): NonNullable<RunInput["gaps"]>[number] {
  const ranges = gap.detail?.["runs"]
  const range = Array.isArray(ranges)
    ? (ranges as unknown[]).find((candidate) => isRangeOf(candidate, runId))
    : undefined
  return {
    reason: gap.reason,
    count: range?.count ?? gap.lost ?? 0,
    fromSequence: range?.firstSequenceNo ?? null,
    toSequence: range?.lastSequenceNo ?? null,
    ...(gap.code === END_IN_DOUBT ? { mayBeEnd: true as const } : {}),
  }
}

interface Range {
  readonly runId: string
  readonly firstSequenceNo: number | null
  readonly lastSequenceNo: number | null
  readonly count: number
}

function isRangeOf(candidate: unknown, runId: string): candidate is Range {
  return typeof candidate === "object" && candidate !== null && (candidate as Partial<Range>).runId === runId
}
