import { InputError } from "@orangebox/contract"
import {
  contextJson,
  contextsWithin,
  contextText,
  MIN_OVERVIEW_BUDGET,
  overviewJson,
  overviewText,
  type RecordedContext,
  type RunView,
  recordedContexts,
  summarizeContexts,
  whyJson,
  whyText,
} from "@orangebox/query"
import type { Target } from "@orangebox/store"
import { estimateTokens, plural, safeLine, shellWord } from "@orangebox/text"
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
  /** Where a conversation was named: its other runs, the newest first. */
  readonly earlier: readonly string[]
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
  return { reading, view, contexts, before, wanted, one, place, earlier: await earlierRuns(reading, target, view) }
}

async function earlierRuns({ store }: PlacedReading, { kind, id }: Target, { runId }: RunView): Promise<string[]> {
  if (kind !== "conversation" || store === undefined) return []
  const { rows } = await store.listRuns({ conversationId: id, limit: MOST_RUNS })
  return rows.map((row) => row.runId).filter((other) => other !== runId)
}

/** So many runs of a conversation are looked into; `orangebox runs --conversation` lists them all. */
const MOST_RUNS = 50

/** What a step saw, or an outline of all contexts of a run. */
export async function answerContext(asked: ContextsAsked, looks: Shown): Promise<Answer> {
  const { reading, view, contexts, before, one, place } = asked
  const shown = { ...looks, address: place }
  const json = (document: object) => ({ run_id: view.runId ?? null, ...document, ...reading.freshness })
  if (one !== undefined) {
    const context = await loadContext(reading.reader, [...before, ...contexts], one)
    return { text: () => contextText(context.view, shown), json: () => json(contextJson(context.view, shown)) }
  }
  const summaries = await summariesOf(asked)
  if (asked.earlier.length > 0 && looks.cursor === undefined) return answerThread(asked, looks)
  return {
    text: () => overviewText(view, summaries, shown),
    json: () => json(overviewJson(view, summaries, shown)),
  }
}

async function summariesOf({ reading, contexts, before, wanted }: ContextsAsked) {
  const all = summarizeContexts(await outlineContexts(reading.reader, [...before, ...contexts]))
  return all.slice(before.length).filter(({ n }) => wanted.some((context) => context.n === n))
}

/** The contexts of a conversation, run by run: the newest as far as the budget reaches, told in the order of time. */
async function answerThread(asked: ContextsAsked, looks: Shown): Promise<Answer> {
  const { reading, earlier } = asked
  const texts: string[] = []
  const documents: object[] = []
  let left = looks.budget ?? USUAL_THREAD_BUDGET
  for (const one of [asked, ...earlier]) {
    if (texts.length > 0 && left < MIN_OVERVIEW_BUDGET) break
    const run = typeof one === "string" ? await contextsAsked({ ...reading, address: one }, true) : one
    const shown = { ...looks, budget: Math.max(left, MIN_OVERVIEW_BUDGET), address: run.place }
    const summaries = await summariesOf(run)
    const text = overviewText(run.view, summaries, shown)
    left -= estimateTokens(text) + 1
    texts.unshift(text)
    documents.unshift({ run_id: run.view.runId ?? null, ...overviewJson(run.view, summaries, shown) })
  }
  const more = earlier.length + 1 - texts.length
  const rest =
    more === 0
      ? []
      : [`${plural(more, "earlier run")}: orangebox context ${reading.placeOfOther(earlier[texts.length - 1]!)}`]
  return {
    text: () => [...rest, ...texts].join("\n"),
    json: () => ({
      conversation_id: asked.view.conversationId ?? null,
      runs: documents,
      shown: documents.length,
      total: earlier.length + 1,
      ...reading.freshness,
    }),
  }
}

const USUAL_THREAD_BUDGET = 4000

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
