import {
  asRecord,
  type Event,
  isEventType,
  type LoosePayload,
  payloadOf,
  payloadRefs,
  textIn,
} from "@orangebox/contract"
import type { RunView, StepView } from "../run-view.js"

/**
 * What the pointer of a context's item leads to inside a run: the bodies behind it, of which one was used. Undefined where it leads out of the
 * recording (a file, a catalog, a pointer of the application's own), and of a chunk, of which `chunksIn` tells; and null where it should lead to something here and does not.
 */
export function recordedSource(view: RunView, sourceRef: string): readonly string[] | null | undefined {
  const [, scheme, id = ""] = /^(tool|event|step):(.*)$/s.exec(sourceRef) ?? []
  if (/^sha256:[0-9a-f]{64}$/.test(sourceRef)) return [sourceRef]
  if (scheme === undefined) return undefined
  const found = eventsBehind(view, scheme, id)
  if (found.length === 0) return null
  return [...new Set(found.flatMap(bodiesOf))]
}

/** The lists of all chunks that were retrieved in a run, by hash. */
export function chunkLists({ steps }: RunView): readonly string[] {
  const retrievals = steps.flatMap(({ events }) =>
    events.filter(({ event_type }) => event_type === "retrieval_executed"),
  )
  return retrievals.flatMap((event) => textIn(payloadOf(event), "candidate_list_ref") ?? [])
}

/** Every chunk of such lists, and the body with its text where it was given one. */
export function chunksIn(lists: Iterable<Uint8Array>): ReadonlyMap<string, string | null> {
  const chunks = new Map<string, string | null>()
  for (const bytes of lists) {
    for (const entry of listOf(bytes)) {
      const id = textIn(entry, "chunk_id")
      if (id !== undefined && !chunks.get(id)) chunks.set(id, textIn(entry, "content_ref") ?? null)
    }
  }
  return chunks
}

function listOf(bytes: Uint8Array): readonly LoosePayload[] {
  try {
    const list: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return Array.isArray(list) ? list.map(asRecord).filter((entry) => entry !== undefined) : []
  } catch {
    return []
  }
}

/** A tool's output by its step, by the id the model gave the call, or by the name of the tool; anything else by the ids of the contract. */
function eventsBehind({ steps }: RunView, scheme: string, id: string): readonly Event[] {
  const ofStep = ({ events }: StepView): boolean => events.some((event) => namesOf(event, scheme).includes(id))
  if (scheme === "event") return steps.flatMap(({ events }) => events.filter((event) => event.event_id === id))
  return steps.filter((step) => step.id === id || ofStep(step)).flatMap(({ events }) => events)
}

function namesOf(event: Event, scheme: string): readonly (string | undefined)[] {
  if (scheme !== "tool" || event.event_type !== "tool_called") return []
  const payload = payloadOf(event)
  return [textIn(payload, "tool_call_id"), textIn(payload, "tool_name")]
}

const bodiesOf = (event: Event): string[] =>
  isEventType(event.event_type) ? payloadRefs(event.event_type, event.payload).map(({ hash }) => hash) : []
