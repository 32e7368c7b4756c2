import { type Event, type LoosePayload, payloadOf } from "@orangebox/contract"

/**
 * A run's events with what was derived of its model calls put where they are silent: the one place that joins `wire_derived` with the events it
 * is about, so that every reader sees a call of a recorder without protocols as it sees any other. What was recorded wins; an event that was
 * filled says who deduced the rest. The prompt, of which no event of its own was written, follows its call.
 */
export function fillDerived(events: readonly Event[], annotations: readonly Event[]): readonly Event[] {
  const derived = new Map<string, Event>()
  for (const event of annotations) {
    if (event.event_type === "wire_derived" && event.step_id !== null) derived.set(event.step_id, event)
  }
  if (derived.size === 0) return events
  return events.flatMap((event) => {
    const about = event.step_id === null ? undefined : derived.get(event.step_id)
    if (about === undefined) return [event]
    const said = payloadOf(about)
    if (event.event_type === "model_result") return [filled(event, said, ANSWER)]
    if (event.event_type !== "model_called") return [event]
    return [filled(event, said, REQUEST), assembled(event, said, about)]
  })
}

const REQUEST = [
  ...["temperature", "top_p", "max_tokens", "seed", "stream", "wire_digest", "shape_digest", "prefix_fingerprint"],
  ...["prefix_length", "cache_use", "cache_params_digest"],
]
const ANSWER = [
  ...["finish_reason", "service_tier", "cache_write_1h_tokens", "requested_tools", "requested_tool_ids"],
  ...["cache_diagnosis", "thinking_ms", "output_summary"],
]

function filled(event: Event, said: LoosePayload, fields: readonly string[]): Event {
  const own = payloadOf(event)
  const payload: Record<string, unknown> = { ...own }
  for (const field of fields) {
    if (own[field] === undefined || own[field] === null || own[field] === "unknown")
      payload[field] = said[field] ?? own[field]
  }
  // A host where the provider would stand, a signature of the generic form, counts of nothing: said for want of better.
  if (said["provider"] !== undefined) payload["provider"] = said["provider"]
  if (event.event_type === "model_called") {
    payload["call_signature_hash"] = said["call_signature_hash"]
    payload["canon_version"] = said["canon_version"]
  } else {
    const usage = own["token_usage"] as { readonly prompt?: unknown } | null | undefined
    if (usage?.prompt == null) payload["token_usage"] = said["token_usage"] ?? usage
    if (said["model_id"] !== null) payload["model_id"] = said["model_id"]
    for (const field of ["error_class", "error_summary"]) if (said[field] !== undefined) payload[field] = said[field]
  }
  for (const field of Object.keys(payload)) if (payload[field] === undefined) delete payload[field]
  return { ...event, payload } as unknown as Event
}

/** As a recorder that knows the protocol would have written it, but outside the run's own numbers. */
function assembled(called: Event, said: LoosePayload, about: Event): Event {
  return {
    ...called,
    event_id: about.event_id,
    event_type: "prompt_assembled",
    artifact_refs: [],
    ...(about.inferred_by === undefined ? {} : { inferred_by: about.inferred_by }),
    payload: { segments: said["segments"] ?? [], total_length: said["total_length"] ?? 0 },
  } as unknown as Event
}
