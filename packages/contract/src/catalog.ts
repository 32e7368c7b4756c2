import type { EventDefinition } from "./event-definition.js"
import type { EvidencedFault } from "./evidenced-fault.js"
import { CATALOG, Envelope, type Payloads } from "./generated.js"
import { type Edition, editionOf, type ObjectNode } from "./schema/schema-node.js"

export type EventType = keyof Payloads
export type PayloadOf<T extends EventType> = T extends "fault" ? EvidencedFault : Payloads[T]

/** Every event type there is. The first thirteen are schema 1.0. */
export const EVENT_TYPES = Object.keys(CATALOG) as readonly EventType[]

/** One immutable record. `Event<"log">` is a log event, `Event` is any. */
export type Event<T extends EventType = EventType> = {
  [K in T]: Readonly<Omit<Envelope, "event_type"> & { event_type: K; payload: PayloadOf<K> }>
}[T]

export function isEventType(text: unknown): text is EventType {
  return typeof text === "string" && Object.hasOwn(CATALOG, text)
}

export function definitionOf(type: EventType): EventDefinition {
  return CATALOG[type]
}

/** The whole event of one type. */
export function eventNode(type: EventType, edition: Edition): ObjectNode {
  const own = { event_type: { is: "one_of", values: [type] }, payload: CATALOG[type].payload.node } as const
  return editionOf({ is: "object", fields: { ...Envelope.fields, ...own } }, edition)
}
