import {
  type Bodies,
  type ContextReading,
  type ContextView,
  contextBodies,
  hashesHolding,
  lastContexts,
  outlineBodies,
  previousContext,
  promptBodies,
  type RecordedContext,
  type RunView,
  readContext,
  textBodies,
  viewContext,
  type WhyView,
  whyOf,
} from "@orangebox/query"
import type { TraceReader } from "@orangebox/store"
import type { RunReader } from "../open/run-reader.js"
import { loadBodies } from "../run/bodies.js"
import { loadRun } from "../run/load-run.js"

/** A conversation may hold runs that called no model; so many of them are looked through for the call before. */
const MOST_RUNS_BACK = 20

/** What the calls of a run go on with: the last contexts of the run before it in its conversation. Nothing where there is none. */
export async function contextsBefore(
  store: TraceReader | undefined,
  view: RunView,
): Promise<readonly RecordedContext[]> {
  const { conversationId, startedAt, runId } = view
  const until = Date.parse(startedAt ?? "")
  if (store === undefined || conversationId === undefined || Number.isNaN(until)) return []
  const { rows } = await store.listRuns({ conversationId, until, limit: MOST_RUNS_BACK })
  for (const row of rows) {
    const run = row.runId === runId ? undefined : await loadRun(store, row.runId)
    const contexts = run === undefined ? [] : lastContexts(run.view)
    if (contexts.length > 0) return contexts
  }
  return []
}

/** Every context of a run in outline. Bodies are read one context at a time: a long run's requests together do not fit. */
export async function outlineContexts(
  store: RunReader,
  contexts: readonly RecordedContext[],
): Promise<ContextReading[]> {
  const readings: ContextReading[] = []
  for (const context of contexts) {
    readings.push(readContext(context, (await loadBodies(store, outlineBodies(context))).bytes))
  }
  return readings
}

export interface LoadedContext {
  readonly view: ContextView
  readonly bodies: Bodies
}

/** One context with all that can be said about it. */
export async function loadContext(
  store: RunReader,
  contexts: readonly RecordedContext[],
  context: RecordedContext,
): Promise<LoadedContext> {
  const previous = previousContext(contexts, context)
  const before = previous ? contextBodies({ ...previous, response: undefined }) : []
  const { bytes: first } = await loadBodies(store, [...contextBodies(context), ...before])
  const { bytes: more } = await loadBodies(store, promptBodies(readContext(context, first)))
  const bodies = new Map([...first, ...more])
  return { view: viewContext(contexts, context, bodies), bodies }
}

/** By name first, which costs little; only what has no name is looked for in the texts. */
export async function findWhy(
  store: RunReader,
  contexts: readonly RecordedContext[],
  wanted: string,
  from: number,
): Promise<WhyView> {
  const readings = await outlineContexts(store, contexts)
  const named = whyOf(readings, wanted, { from })
  if (named.total > 0) return named
  const hashes = new Set<string>()
  const searched = new Set<string>()
  for (const reading of readings) {
    const fresh = textBodies(reading).filter((hash) => !searched.has(hash))
    for (const hash of fresh) searched.add(hash)
    const { bytes: bodies } = await loadBodies(store, fresh)
    for (const hash of hashesHolding(reading, bodies, wanted)) hashes.add(hash)
  }
  return whyOf(readings, wanted, { hashes, from })
}
