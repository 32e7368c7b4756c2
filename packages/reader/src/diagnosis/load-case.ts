import { payloadOf, recordsIn, textIn } from "@orangebox/contract"
import { observabilityOfReading } from "@orangebox/decisions"
import { dialectByShape, readBody, readRequest } from "@orangebox/dialects"
import {
  brokenPairs,
  type CaseFile,
  type MessageSighting,
  type RunView,
  recordedContexts,
  type StepView,
  toolMentions,
} from "@orangebox/query"
import type { TraceReader } from "@orangebox/store"
import { loadCacheAudit } from "../cache/load-cache-audit.js"
import { judgeRun, openCourt } from "../judging/judged-run.js"
import type { RunReader } from "../open/run-reader.js"
import { loadBodies } from "../run/bodies.js"
import { type LoadedRun, loadRun } from "../run/load-run.js"

/** A message that was sent to a thousand places is looked at in its first ones. */
const MOST_SIGHTINGS = 60

/** Everything that is looked at to diagnose a run. `store` is there unless the run stands in a file. */
export async function loadCase(
  reader: RunReader,
  store: TraceReader | undefined,
  run: LoadedRun,
  data: string | undefined,
): Promise<CaseFile> {
  const court = openCourt(data === undefined ? {} : { data })
  const { reading, evaluation } = await judgeRun(court, reader, run)
  return {
    view: run.view,
    cache: await loadCacheAudit(reader, store, run),
    evaluation,
    trail: observabilityOfReading(reading),
    messages: store === undefined ? new Map() : await messagesOf(store, run.view),
    builtToolIds: await builtToolIds(reader, run.view),
  }
}

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
      const step = views.get(runId)?.steps[no - 1]
      const sighting = step && (await sightingOf(store, runId, step, id))
      if (sighting) sightings.push(sighting)
    }
    messages.set(id, sightings)
  }
  return messages
}

async function sightingOf(
  store: TraceReader,
  runId: string,
  step: StepView,
  id: string,
): Promise<MessageSighting | undefined> {
  const what = /^queue\.(enqueue|dequeue|deliver)$/.exec(step.workKind ?? "")?.[1] as
    | MessageSighting["what"]
    | undefined
  if (what === undefined || step.queue?.messageId !== id) return undefined
  const caused = step.links.filter(({ kind, run_id }) => kind === "caused" && run_id !== undefined)
  const rows = await Promise.all(caused.map(({ run_id }) => store.getRun(run_id!)))
  return {
    runId,
    n: step.n,
    what,
    isGood: step.status === "success" && step.queue.acknowledged !== false,
    target: step.queue.target,
    delivered: step.queue.delivered,
    causedIn: rows.flatMap((row) => row?.conversationId ?? []),
    isRedelivery: step.queue.redelivered === true,
  }
}

/** For prompts whose tools do not pair: what the application had built, where it is on record. */
async function builtToolIds(reader: RunReader, view: RunView): Promise<CaseFile["builtToolIds"]> {
  const built = new Map<number, ReadonlySet<string>>()
  for (const { n, step, derived } of recordedContexts(view)) {
    if (brokenPairs(toolMentions(recordsIn(payloadOf(derived), "segments"))).length === 0) continue
    const rendered = step.events.find(({ event_type }) => event_type === "prompt_rendered")
    const ref = textIn(payloadOf(rendered), "rendered_prompt_ref")
    if (ref === undefined) continue
    const bytes = (await loadBodies(reader, [ref])).bytes.get(ref)
    const body = bytes && readBody(bytes)
    const dialect = body && dialectByShape(body, textIn(payloadOf(step.opened), "provider") ?? null)
    const anatomy = dialect && readRequest(dialect, body)
    if (anatomy === undefined) continue
    const results = toolMentions(anatomy.detailed()).filter(({ isResult }) => isResult)
    built.set(n, new Set(results.map(({ id }) => id)))
  }
  return built
}
