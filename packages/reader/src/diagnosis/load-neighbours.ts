import { payloadOf, textIn } from "@orangebox/contract"
import { type Action, actionsOf } from "@orangebox/decisions"
import {
  contextBodies,
  type GoodSibling,
  type LeftOutOfContext,
  type RunView,
  readContext,
  recordedContexts,
  type Usual,
  usualKey,
} from "@orangebox/query"
import type { TraceReader } from "@orangebox/store"
import { type LoadBytes, withBodies } from "../run/bodies.js"
import { loadRun } from "../run/load-run.js"

/** So many good runs of an input are compared with, out of so many runs of the same entry point that are looked at. */
const MOST_SIBLINGS = 5
const MOST_LOOKED_AT = 40

/** Good runs of the same application, entry point and input. */
export async function goodSiblings(store: TraceReader, view: RunView): Promise<readonly GoodSibling[]> {
  const input = inputOf(view)
  if (view.app === undefined || input === undefined) return []
  const { rows } = await store.listRuns({ app: view.app, status: "completed", limit: 200 })
  const like = rows.filter(
    ({ runId, entrypoint, sourceRunId }) =>
      runId !== view.runId && sourceRunId === null && entrypoint === (view.entrypoint ?? null),
  )
  const good: GoodSibling[] = []
  for (const { runId } of like.slice(0, MOST_LOOKED_AT)) {
    if (good.length === MOST_SIBLINGS) break
    const run = await loadRun(store, runId)
    if (run === undefined || inputOf(run.view) !== input) continue
    const { recorded } = await withBodies(store, run)
    const writes = writesOf(run.view, actionsOf(recorded).actions)
    const signed = run.view.steps.flatMap(({ n, opened }) => {
      const signature = textIn(payloadOf(opened), "call_signature_hash")
      return writes.has(n) && signature !== undefined ? [{ n, signature }] : []
    })
    good.push({ runId, writes: signed })
  }
  return good
}

/** The tool calls that say they write, or that are seen to. */
export function writesOf({ steps }: RunView, actions: readonly Action[]): ReadonlySet<number> {
  const said = steps.flatMap(({ n, tool }) => (tool?.effectClass?.startsWith("write") === true ? [n] : []))
  const seen = actions.flatMap(({ stepNo, boundary, edits, paths, commits, pullRequests }) => {
    const isWrite =
      edits.length + commits.length + pullRequests.length > 0 || paths.some(({ access }) => access !== "read")
    return boundary === "tool" && isWrite ? [stepNo] : []
  })
  return new Set([...said, ...seen])
}

/** What the run was asked, or the hash of it. */
function inputOf({ steps }: RunView): string | undefined {
  const opening = payloadOf(steps[0]?.opened)
  return textIn(opening, "input_summary_ref") ?? textIn(opening, "input_summary")
}

/** What was at hand for each prompt and did not get into it, where a manifest tells. */
export async function leftOutOf(bytesOf: LoadBytes, view: RunView): Promise<readonly LeftOutOfContext[]> {
  const found: LeftOutOfContext[] = []
  for (const context of recordedContexts(view)) {
    if (context.manifests.length === 0) continue
    const { excluded, items } = readContext(context, await bytesOf(contextBodies(context)))
    if (excluded === null) continue
    found.push({
      n: context.n,
      excluded: excluded.map(({ id, sourceRef }) => ({ id, path: pathIn(sourceRef) })),
      included: new Set(items.flatMap(({ id, sourceRef }) => [id, pathIn(sourceRef) ?? id])),
    })
  }
  return found
}

/** `src/days.js` of `file:src/days.js#2`. */
const pathIn = (sourceRef: string | undefined): string | undefined =>
  /^(?:file:|workspace:)?([^#?]+)/.exec(sourceRef ?? "")?.[1]

const FOUR_WEEKS_MS = 28 * 86_400_000

/** How long steps of the kinds and names of this run took in the weeks before. */
export async function usualDurations(store: TraceReader, view: RunView): Promise<ReadonlyMap<string, Usual>> {
  const wanted = new Set(
    view.steps.flatMap(({ kind, name }) => (kind === "model" || kind === "tool" ? [usualKey(kind, name)] : [])),
  )
  const startedAt = Date.parse(view.startedAt ?? "")
  if (wanted.size === 0 || view.app === undefined || Number.isNaN(startedAt)) return new Map()
  const sums = new Map<string, Map<number, number>>()
  for (const { kind, name, durations } of await store.durationCounts({
    app: view.app,
    since: startedAt - FOUR_WEEKS_MS,
  })) {
    const key = usualKey(kind, name)
    if (!wanted.has(key)) continue
    sums.set(key, new Map(Object.entries(durations).map(([power, count]) => [2 ** Number(power), count])))
  }
  return new Map(
    [...sums].map(([key, sum]) => {
      const byBound = [...sum].sort(([a], [b]) => a - b)
      return [key, { count: byBound.reduce((all, [, many]) => all + many, 0), byBound }]
    }),
  )
}
