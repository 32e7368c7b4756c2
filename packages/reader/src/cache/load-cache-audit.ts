import { BUILT_IN_CACHE_RULES, type CacheRules, withCacheRules } from "@orangebox/dialects"
import {
  auditCache,
  bodiesToCompare,
  type CacheAudit,
  type CacheCall,
  cacheCallOf,
  cacheSums,
  contextBodies,
  type DetailedAudit,
  differingBytes,
  type RecordedContext,
  type RunView,
  recordedContexts,
} from "@orangebox/query"
import { findConfig } from "@orangebox/recorder"
import type { TraceReader } from "@orangebox/store"
import type { RunReader } from "../open/run-reader.js"
import { bytesIn, type LoadBytes } from "../run/bodies.js"
import { type LoadedRun, loadRun } from "../run/load-run.js"
import { pricesFor } from "../run/prices.js"

/** Runs beside a run that may have filled the cache before it began: so many, begun so long before. */
const MOST_RUNS_BESIDE = 10
const BESIDE_MS = 60 * 60_000

export interface CacheAsked {
  /** Narrows the answer to the calls in one step. */
  readonly n?: number | undefined
  /** For a caller that has read bodies of the run already. */
  readonly bytesOf?: LoadBytes
}

/** Every model call of a run against what its provider's cache could have served. */
export async function loadCacheAudit(
  reader: RunReader,
  store: TraceReader | undefined,
  run: LoadedRun,
  { n, bytesOf = bytesIn(reader) }: CacheAsked = {},
): Promise<DetailedAudit> {
  const { view } = run
  const audit = await auditRun(bytesOf, store, view)
  const wanted = audit.calls.filter(({ call }) => n === undefined || n === 1 || isWithin(view, call.n, n))
  const detailed = []
  for (const row of wanted) {
    detailed.push({ ...row, differing: differingBytes(row, await bytesOf(bodiesToCompare(row))) })
  }
  return { ...audit, ...cacheSums(wanted), calls: detailed }
}

/** The same without the bytes that differ. */
export async function auditRun(bytesOf: LoadBytes, store: TraceReader | undefined, view: RunView): Promise<CacheAudit> {
  const calls = await callsOf(bytesOf, view)
  const before = store === undefined ? [] : await callsBeside(store, view)
  return auditCache(calls, before, cacheRulesFor(process.cwd()), pricesFor(process.cwd()))
}

/** The built-in rules with what `orangebox.config.json` says before them. */
function cacheRulesFor(cwd: string): CacheRules {
  const own = findConfig(cwd)?.config.cacheRules ?? []
  return withCacheRules(
    BUILT_IN_CACHE_RULES,
    own.map(({ models, validFrom, keeps, minimumTokens, livesSeconds, stepTokens, lookbackSegments }) => ({
      models,
      validFrom: validFrom ?? "1970-01-01",
      keeps,
      minimumTokens: { from: minimumTokens, to: minimumTokens },
      stepTokens: stepTokens ?? 1,
      lookbackSegments: lookbackSegments ?? null,
      livesMs: { from: livesSeconds * 1000, to: livesSeconds * 1000 },
    })),
  )
}

async function callsOf(bytesOf: LoadBytes, view: RunView): Promise<CacheCall[]> {
  const contexts = recordedContexts(view).filter(({ step }) => step.kind === "model")
  // Only older recordings, and requests in words of the application's own, need the bytes to say what a prompt was made of.
  const bytes = await bytesOf(contexts.flatMap((context) => (context.derived === undefined ? requestOf(context) : [])))
  return contexts.map((context) => cacheCallOf(context, attemptsOf(view, context), bytes))
}

const requestOf = (context: RecordedContext): readonly string[] =>
  contextBodies(context).filter((hash) => hash === context.request?.hash)

const attemptsOf = (view: RunView, { step }: RecordedContext) =>
  step.children.map((child) => view.steps[child - 1]!).filter(({ attemptNo }) => attemptNo !== undefined)

async function callsBeside(store: TraceReader, view: RunView): Promise<CacheCall[]> {
  const until = Date.parse(view.startedAt ?? "")
  if (Number.isNaN(until) || view.app === undefined) return []
  const { rows } = await store.listRuns({
    app: view.app,
    since: until - BESIDE_MS,
    until,
    limit: MOST_RUNS_BESIDE,
  })
  const calls: CacheCall[] = []
  for (const { runId } of rows) {
    const run = runId === view.runId ? undefined : await loadRun(store, runId)
    if (run !== undefined) calls.push(...(await callsOf(bytesIn(store), run.view)))
  }
  return calls
}

function isWithin(view: RunView, inner: number, outer: number): boolean {
  for (let at: number | undefined = inner; at !== undefined; at = view.steps[at - 1]?.parent) {
    if (at === outer) return true
  }
  return false
}
