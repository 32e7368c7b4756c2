import { InputError } from "@orangebox/contract"
import {
  callConversation,
  contextBodies,
  contextsWithin,
  previousContext,
  type RecordedContext,
  type RunView,
  recordedContexts,
  type TornAnswer,
} from "@orangebox/query"
import type { TraceReader } from "@orangebox/store"
import type { RunReader } from "../open/run-reader.js"
import { loadBodies } from "../run/bodies.js"
import { contextsBefore } from "./find-context.js"

/** What step #n was told and what it answered, as people read it. */
export async function loadConversation(
  reader: RunReader,
  store: TraceReader | undefined,
  view: RunView,
  n: number,
): Promise<object> {
  // What is compared are the bytes of requests, whether or not a compiler tells of them.
  const contexts = recordedContexts(view).map(asSent)
  const isCall = view.steps[n - 1]?.kind === "model"
  const [context] = isCall ? contextsWithin(view, contexts, n) : []
  if (context === undefined)
    throw new InputError("NO_CONTEXT", {
      what: `step #${n} called no model`,
      next: "Ask for a step that is a model call",
    })
  const previous = previousContext([...(await contextsBefore(store, view)).map(asSent), ...contexts], context)
  const before = previous === undefined || previous.derived !== undefined ? [] : contextBodies(previous)
  const { bytes } = await loadBodies(reader, [...contextBodies(context), ...before])
  return callConversation(view, context, previous, bytes, await tornAnswer(reader, view, context))
}

const asSent = (context: RecordedContext): RecordedContext => ({ ...context, manifests: [] })

/** The bytes of an answer that never ended. */
async function tornAnswer(
  reader: RunReader,
  view: RunView,
  { step }: RecordedContext,
): Promise<TornAnswer | undefined> {
  const steps = [step, ...step.children.map((child) => view.steps[child - 1]!)]
  if (steps.every(({ partials }) => partials.length === 0)) return undefined
  const streams = await reader.partialStreamsOf(view.runId ?? "")
  const stream = streams.findLast(({ stepId, role }) => role === "response" && steps.some(({ id }) => id === stepId))
  const bytes = stream && (await reader.readPartialStream(stream.streamId))
  return bytes && { bytes, withheldBytes: stream.withheldBytes }
}
