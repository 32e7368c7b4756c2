import { type ArtifactRef, type Event, type PayloadOf, whyNotWire } from "@orangebox/contract"
import { deriveWire } from "@orangebox/recorder"
import { isAbsent, type RecordedEvent, type TraceStore } from "@orangebox/store"
import { annotationEnvelope } from "./crash-annotation.js"
import type { Intake } from "./intake.js"

/** Who deduced what a `wire_derived` says. */
const DERIVED_BY = "collector"

/** A model call that has ended and whose writer said nothing of what its bytes mean. */
export interface SilentCall {
  readonly runId: string
  readonly stepId: string
  readonly writerId: string
}

/** Unknown usage and no finish reason, though an answer came: its writer knows no protocol, or it is in none we know. */
export function silentCallIn({ event, writerId }: RecordedEvent): SilentCall | undefined {
  const { event_type, payload, run_id: runId, step_id: stepId } = event
  if (event_type !== "model_result" || runId === null || stepId === null || writerId === null) return undefined
  const { token_usage, finish_reason, response_ref } = payload as Partial<PayloadOf<"model_result">>
  const isSilent = token_usage?.prompt == null && finish_reason == null && response_ref != null
  return isSilent ? { runId, stepId, writerId } : undefined
}

/**
 * Reads such calls as the recorder's own edges would have, and says it about their runs. Behind the commit that holds them: what is derived
 * needs stored bytes only. Its ids follow from the call, so deriving again says the same.
 */
export async function deriveCalls(calls: readonly SilentCall[], store: TraceStore, intake: Intake): Promise<void> {
  const byRun = new Map<string, SilentCall[]>()
  for (const call of calls) byRun.set(call.runId, [...(byRun.get(call.runId) ?? []), call])
  for (const [runId, ofRun] of byRun) {
    const wanted = new Set(ofRun.map(({ stepId }) => stepId))
    const events = await eventsOfSteps(store, runId, wanted)
    for (const { stepId, writerId } of ofRun) {
      const derived = await derivedFrom(events.get(stepId) ?? [], store)
      if (derived !== undefined) intake.batch.addEvent(derived, writerId)
    }
    await intake.flush()
  }
}

async function derivedFrom(events: readonly Event[], store: TraceStore): Promise<Event | undefined> {
  const called = events.find((event): event is Event<"model_called"> => event.event_type === "model_called")
  const result = events.find((event): event is Event<"model_result"> => event.event_type === "model_result")
  if (called === undefined || result === undefined) return undefined
  // Stamped by a recorder that reads protocols: what it does not say was not in the answer.
  if (called.payload.wire_digest != null) return undefined
  const request = await bodyOf(called, called.payload.request_ref, store)
  // Told by another program: no wire carried these bytes, and nothing may be read off them as if one had.
  if (whyNotWire(request?.ref?.mime_type) !== undefined) return undefined
  const response = await bodyOf(result, result.payload.response_ref, store)
  const payload = request && deriveWire({ called: called.payload, request, response })
  if (payload === undefined) return undefined
  return {
    ...annotationEnvelope(Date.parse(result.timestamp_utc), `wire_derived ${result.run_id} ${result.step_id}`),
    trace_id: result.trace_id,
    run_id: result.run_id,
    step_id: result.step_id,
    mono_us: result.mono_us,
    ...(result.conversation_id === undefined ? {} : { conversation_id: result.conversation_id }),
    inferred_by: DERIVED_BY,
    event_type: "wire_derived",
    payload,
  } as Event
}

async function bodyOf(
  event: Event,
  hash: string | null,
  store: TraceStore,
): Promise<{ readonly bytes: Uint8Array; readonly ref: ArtifactRef | undefined } | undefined> {
  if (hash === null) return undefined
  const reading = await store.readBody(hash)
  if (isAbsent(reading)) return undefined
  return { bytes: reading.bytes, ref: event.artifact_refs.find(({ artifact_hash }) => artifact_hash === hash) }
}

async function eventsOfSteps(
  store: TraceStore,
  runId: string,
  wanted: ReadonlySet<string>,
): Promise<Map<string, Event[]>> {
  const found = new Map<string, Event[]>()
  for (let from: number | undefined = 0; from !== undefined; ) {
    const page: Awaited<ReturnType<TraceStore["eventsOf"]>> = await store.eventsOf(runId, { from })
    for (const event of page.events) {
      if (event.step_id === null || !wanted.has(event.step_id)) continue
      found.set(event.step_id, [...(found.get(event.step_id) ?? []), event])
    }
    from = page.nextFrom
  }
  return found
}
