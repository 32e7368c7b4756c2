import { payloadOf, recordsIn, textIn } from "@orangebox/contract"
import { askedTools, observabilityOfReading, type RunReading } from "@orangebox/decisions"
import { dialectByShape, readBody, readRequest } from "@orangebox/dialects"
import {
  type BrokenPrompt,
  brokenPairs,
  type CaseFile,
  isBadOutcome,
  type MessageSighting,
  type RecordedContext,
  type RunView,
  recordedContexts,
  type StepView,
  type StepWords,
  type ToldOutcome,
  toolMentions,
  toolPlaces,
} from "@orangebox/query"
import type { TraceReader } from "@orangebox/store"
import { loadCacheAudit } from "../cache/load-cache-audit.js"
import { type Court, type JudgedRun, judgeRun, openCourt } from "../judging/judged-run.js"
import type { RunReader } from "../open/run-reader.js"
import { bytesIn, type LoadBytes } from "../run/bodies.js"
import { type LoadedRun, loadRun } from "../run/load-run.js"
import { goodSiblings, leftOutOf, usualDurations, writesOf } from "./load-neighbours.js"
import { investigate, sourcesOf } from "./load-sources.js"

/** A message that was sent to a thousand places is looked at in its first ones. */
const MOST_SIGHTINGS = 60

/** A case, and by what it was judged. */
export interface LoadedCase {
  readonly file: CaseFile
  readonly court: Court
  readonly judged: JudgedRun
}

export interface CaseAsked extends ToldOutcome {
  /** The source that is investigated: its own rules and notes are looked at as well. */
  readonly source?: string
}

/** Everything that is looked at to diagnose a run. `store` is there unless the run stands in a file. */
export async function loadCase(
  reader: RunReader,
  store: TraceReader | undefined,
  run: LoadedRun,
  data: string | undefined,
  { source, ...told }: CaseAsked = {},
): Promise<LoadedCase> {
  const court = openCourt(data === undefined ? {} : { data })
  const judged = await judgeRun(court, reader, run)
  const { reading, evaluation, recorded } = judged
  const bytesOf = bytesIn(reader, (hash) => {
    const read = recorded.bodies(hash)
    return read instanceof Uint8Array ? read : undefined
  })
  const file: CaseFile = {
    view: run.view,
    cache: await loadCacheAudit(reader, store, run, { bytesOf }),
    evaluation,
    trail: observabilityOfReading(reading),
    messages: store === undefined ? new Map() : await messagesOf(store, run.view),
    brokenPrompts: await brokenPrompts(bytesOf, run.view),
    told,
    words: wordsOf(reading),
    askedBy: askedBy(reading),
    askedTools: askedTools(reading),
    leftOut: await leftOutOf(bytesOf, run.view),
    writes: writesOf(run.view, reading.run.actions),
    siblings:
      store === undefined || !isBadOutcome({ view: run.view, told, evaluation })
        ? []
        : await goodSiblings(store, run.view),
    usual: store === undefined ? new Map() : await usualDurations(store, run.view),
    source: source === undefined ? undefined : await investigate(store, run, source),
    sourcesToAsk: hasOtherSources(run.view) ? new Set((await sourcesOf(store, run)).keys()) : new Set(),
    finalOutput: reading.run.actions.findLast(({ output }) => output?.text != null)?.output?.text ?? undefined,
  }
  return { file, court, judged }
}

/** Whether anything was recorded by another source than the run itself: only then one may have more to say. */
const hasOtherSources = ({ steps }: RunView): boolean => {
  const own = steps[0]?.opened?.source
  return steps.some(({ opened }) => opened !== undefined && opened.source !== own)
}

function askedBy({ run, index }: RunReading): ReadonlyMap<number, number> {
  const asked = run.actions.flatMap(({ boundary, stepNo, modelStepId }) => {
    const call = boundary === "tool" && modelStepId !== null ? index.stepOf(modelStepId) : undefined
    return call === undefined ? [] : [[stepNo, call.no] as const]
  })
  return new Map(asked)
}

/** More of one text than this no trait is looked for in. */
const MOST_WORDS = 20_000

function wordsOf({ calls, run }: RunReading): ReadonlyMap<number, StepWords> {
  const words = new Map<number, StepWords>()
  for (const { step, answer } of calls) {
    const asked = answer.toolCalls.map(({ name, arguments: args }) => `${name} ${args ?? ""}`)
    words.set(step.no, cutWords([answer.text ?? "", ...asked].join("\n"), answer.error ?? ""))
  }
  for (const { stepNo, tool } of run.actions) {
    if (tool !== null) words.set(stepNo, cutWords(tool.argsText ?? "", tool.resultText ?? ""))
  }
  return words
}

const cutWords = (said: string, got: string): StepWords => ({
  said: said.slice(0, MOST_WORDS),
  got: got.slice(0, MOST_WORDS),
})

/** Where each message that the run handled was seen, in this run and in others. */
async function messagesOf(store: TraceReader, view: RunView): Promise<CaseFile["messages"]> {
  const messages = new Map<string, readonly MessageSighting[]>()
  const views = new Map<string, RunView | undefined>([[view.runId ?? "", view]])
  for (const id of new Set(view.steps.flatMap(({ queue }) => queue?.messageId ?? []))) {
    const { rows } = await store.occurrencesOf("message", id, { from: 0, limit: MOST_SIGHTINGS })
    const sightings: MessageSighting[] = []
    for (const { runId, no } of rows) {
      if (runId === null || no === null) continue
      if (!views.has(runId)) views.set(runId, (await loadRun(store, runId))?.view)
      const seen = views.get(runId)
      const step = seen?.steps[no - 1]
      const sighting = step && (await sightingOf(store, seen!, step, id))
      if (sighting) sightings.push(sighting)
    }
    messages.set(id, sightings)
  }
  return messages
}

async function sightingOf(
  store: TraceReader,
  view: RunView,
  step: StepView,
  id: string,
): Promise<MessageSighting | undefined> {
  const what = /^queue\.(enqueue|dequeue|deliver)$/.exec(step.workKind ?? "")?.[1] as
    | MessageSighting["what"]
    | undefined
  if (what === undefined || step.queue?.messageId !== id) return undefined
  const caused = step.links.filter(({ kind, run_id }) => kind === "caused" && run_id !== undefined)
  const rows = await Promise.all(caused.map(({ run_id }) => store.getRun(run_id!)))
  const isUnacknowledged = step.queue.acknowledged === false
  // What the queue was not told may have been done all the same: then the runs that the delivery caused have completed, or its own run has
  // that was there for this message alone.
  const wasHandled =
    rows.length > 0
      ? rows.every((row) => row?.status === "completed")
      : view.status === "completed" && deliveredIn(view).size === 1
  return {
    runId: view.runId ?? "",
    n: step.n,
    what,
    isGood: step.status === "success" && (!isUnacknowledged || wasHandled),
    isUnacknowledged,
    target: step.queue.target,
    delivered: step.queue.delivered,
    causedIn: rows.flatMap((row) => row?.conversationId ?? []),
    isRedelivery: step.queue.redelivered === true,
  }
}

const deliveredIn = ({ steps }: RunView): ReadonlySet<string> =>
  new Set(steps.flatMap(({ queue, workKind }) => (workKind === "queue.deliver" ? (queue?.messageId ?? []) : [])))

/** For prompts whose tools do not pair: what the application had built, where it is on record, and where in the request they stand. */
async function brokenPrompts(bytesOf: LoadBytes, view: RunView): Promise<CaseFile["brokenPrompts"]> {
  const broken = new Map<number, BrokenPrompt>()
  for (const context of recordedContexts(view)) {
    if (brokenPairs(toolMentions(recordsIn(payloadOf(context.derived), "segments"))).length === 0) continue
    const { request } = context
    const places = toolPlaces(context, request === undefined ? new Map() : await bytesOf([request.hash]))
    broken.set(context.n, { builtResults: await builtResults(bytesOf, context), places })
  }
  return broken
}

async function builtResults(
  bytesOf: LoadBytes,
  { step, derived }: RecordedContext,
): Promise<BrokenPrompt["builtResults"]> {
  // What stands in the call itself, beside what its attempts sent, is what the application built; its segments outlive the text.
  const assembled = step.events.find((event) => event.event_type === "prompt_assembled" && event !== derived)
  const segments = recordsIn(payloadOf(assembled), "segments")
  if (segments.length > 0) return resultIds(segments)
  const rendered = step.events.find(({ event_type }) => event_type === "prompt_rendered")
  const ref = textIn(payloadOf(rendered), "rendered_prompt_ref")
  const bytes = ref === undefined ? undefined : (await bytesOf([ref])).get(ref)
  const body = bytes && readBody(bytes)
  const dialect = body && dialectByShape(body, textIn(payloadOf(step.opened), "provider") ?? null)
  const anatomy = dialect && readRequest(dialect, body)
  return anatomy && resultIds(anatomy.detailed())
}

const resultIds = (segments: readonly object[]): ReadonlySet<string> =>
  new Set(toolMentions(segments).flatMap(({ id, isResult }) => (isResult ? [id] : [])))
