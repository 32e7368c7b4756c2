import { InputError } from "@orangebox/contract"
import {
  contextJson,
  contextsWithin,
  contextText,
  overviewJson,
  overviewText,
  type RecordedContext,
  type RunView,
  recordedContexts,
  summarizeContexts,
  whyJson,
  whyText,
} from "@orangebox/query"
import { safeLine, shellWord } from "@orangebox/text"
import { findTarget, runOf } from "../address/find-target.js"
import { contextsBefore, findWhy, loadContext, outlineContexts } from "../context/find-context.js"
import type { Answer, Shown } from "./answer.js"
import type { PlacedReading } from "./placed.js"

/** The contexts that an address asks for. */
export interface ContextsAsked {
  readonly reading: PlacedReading
  readonly view: RunView
  readonly contexts: readonly RecordedContext[]
  /** What the conversation had seen when the run began. */
  readonly before: readonly RecordedContext[]
  /** Those in the step that was named, or all. */
  readonly wanted: readonly RecordedContext[]
  /** Where one step was named and it has one. */
  readonly one: RecordedContext | undefined
  /** How the run is written in the commands we suggest. */
  readonly place: string
}

export async function contextsAsked(reading: PlacedReading, isAboutRun = false): Promise<ContextsAsked> {
  const target = await findTarget(reading.reader, reading.address)
  const { view, row } = await runOf(reading.reader, target)
  const place = reading.place(row.runId)
  const contexts = recordedContexts(view)
  const before = await contextsBefore(reading.store, view)
  const n = view.steps.find(({ id }) => id === target.stepId)?.n
  const wanted = n === undefined || n === 1 ? contexts : contextsWithin(view, contexts, n)
  const [first, ...others] = wanted
  if (!isAboutRun && n !== undefined && first === undefined) throw noContext(view, contexts, n, place)
  const one = n !== undefined && n !== 1 && others.length === 0 ? first : undefined
  return { reading, view, contexts, before, wanted, one, place }
}

/** What a step saw, or an outline of all contexts of a run. */
export async function answerContext(asked: ContextsAsked, looks: Shown): Promise<Answer> {
  const { reading, view, contexts, before, wanted, one, place } = asked
  const shown = { ...looks, address: place }
  const json = (document: object) => ({ run_id: view.runId ?? null, ...document, ...reading.freshness })
  if (one !== undefined) {
    const context = await loadContext(reading.reader, [...before, ...contexts], one)
    return { text: () => contextText(context.view, shown), json: () => json(contextJson(context.view, shown)) }
  }
  const all = summarizeContexts(await outlineContexts(reading.reader, [...before, ...contexts]))
  const summaries = all.slice(before.length).filter(({ n }) => wanted.some((context) => context.n === n))
  return {
    text: () => overviewText(view, summaries, shown),
    json: () => json(overviewJson(view, summaries, shown)),
  }
}

/** One item through the contexts of a run: where it was included, left out or absent. */
export async function answerWhy(
  { reading, view, contexts, place }: ContextsAsked,
  item: string,
  looks: Shown,
): Promise<Answer> {
  const why = await findWhy(reading.reader, contexts, item, looks.cursor ?? 0)
  const shown = { ...looks, command: `orangebox context ${place} --why ${safeLine(shellWord(item))}` }
  return {
    text: () => whyText(why, shown),
    json: () => ({ run_id: view.runId ?? null, ...whyJson(why, shown), ...reading.freshness }),
  }
}

function noContext(view: RunView, contexts: readonly RecordedContext[], n: number, place: string): InputError {
  const nearest = contexts.findLast((context) => context.n < n) ?? contexts[0]
  return new InputError("NO_CONTEXT", {
    what: `step #${n} has no context: it called no model`,
    where: view.runId ?? "",
    next: nearest
      ? `The nearest one that has: orangebox context ${place}#${nearest.n}`
      : "No step of this run has one: no model was called",
  })
}
