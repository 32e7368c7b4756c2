import { BUILT_IN_CACHE_RULES, type CacheRules, withCacheRules } from "@orangebox/dialects"
import {
  auditCache,
  bodiesToCompare,
  type CacheCall,
  cacheCallOf,
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
import { loadBodies } from "../run/bodies.js"
import { type LoadedRun, loadRun } from "../run/load-run.js"
import { pricesFor } from "../run/prices.js"

/** Runs beside a run that may have filled the cache before it began: so many, begun so long before. */
const MOST_RUNS_BESIDE = 10
const BESIDE_MS = 60 * 60_000

/** Every model call of a run against what its provider's cache could have served. `n` narrows what is told to the calls in one step. */
export async function loadCacheAudit(
  reader: RunReader,
  store: TraceReader | undefined,
  run: LoadedRun,
  n?: number,
): Promise<DetailedAudit> {
  const { view } = run
  const calls = await callsOf(reader, view)
  const before = store === undefined ? [] : await callsBeside(store, view)
  const audit = auditCache(calls, before, cacheRulesFor(process.cwd()), pricesFor(process.cwd()))
  const wanted = audit.calls.filter(({ call }) => n === undefined || n === 1 || isWithin(view, call.n, n))
  const detailed = []
  for (const row of wanted) {
    const { bytes } = await loadBodies(reader, bodiesToCompare(row))
    detailed.push({ ...row, differing: differingBytes(row, bytes) })
  }
  return { ...audit, calls: detailed }
}

/** The built-in rules with what `orangebox.config.json` says before them. */
export function cacheRulesFor(cwd: string): CacheRules {
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

async function callsOf(reader: RunReader, view: RunView): Promise<CacheCall[]> {
  const calls: CacheCall[] = []
  for (const context of recordedContexts(view)) {
    if (context.step.kind !== "model") continue
    // Only older recordings need the bytes to say what a prompt was made of.
    const hashes = context.derived === undefined ? requestOf(context) : []
    calls.push(cacheCallOf(context, attemptsOf(view, context), (await loadBodies(reader, hashes)).bytes))
  }
  return calls
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
    if (run !== undefined) calls.push(...(await callsOf(store, run.view)))
  }
  return calls
}

function isWithin(view: RunView, inner: number, outer: number): boolean {
  for (let at: number | undefined = inner; at !== undefined; at = view.steps[at - 1]?.parent) {
    if (at === outer) return true
  }
  return false
}
