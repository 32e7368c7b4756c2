import type { EventType } from "./catalog.js"
import { CATALOG } from "./generated.js"
import type { SchemaNode } from "./schema/schema-node.js"

export interface PayloadRef {
  /** Dotted path in the payload: `request_ref`, `segments.3.content_ref`. */
  readonly field: string
  readonly hash: string
  /** The schema can do without this field, so a missing body does not make the event invalid. */
  readonly isOptional: boolean
}

/** Every body an event's payload names. */
export function payloadRefs(type: EventType, payload: unknown): PayloadRef[] {
  const found: PayloadRef[] = []
  for (const place of PLACES.get(type)!) collect(payload, place, 0, "", found)
  return found
}

/** The top-level payload fields of a type that name bodies, read off its schema. */
export function refFieldsOf(type: EventType): readonly string[] {
  return REF_FIELDS.get(type)!
}

/** Where a schema names a body; `EVERY_ITEM` stands for the items of a list. */
interface Place {
  readonly path: readonly (string | typeof EVERY_ITEM)[]
  readonly isOptional: boolean
}
const EVERY_ITEM = Symbol("every item")

function collect(value: unknown, place: Place, depth: number, field: string, found: PayloadRef[]): void {
  const part = place.path[depth]
  if (part === undefined) {
    if (typeof value === "string") found.push({ field, hash: value, isOptional: place.isOptional })
    return
  }
  if (typeof value !== "object" || value === null) return
  const prefix = field === "" ? "" : `${field}.`
  if (part !== EVERY_ITEM) {
    collect((value as Record<string, unknown>)[part], place, depth + 1, prefix + part, found)
  } else if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) collect(value[i], place, depth + 1, prefix + i, found)
  }
}

function placesIn(node: SchemaNode, path: Place["path"], isOptional: boolean): Place[] {
  const canDoWithout = isOptional || node.optional === true
  if (node.bodyRef) return [{ path, isOptional: canDoWithout }]
  if (node.is === "list") return placesIn(node.of, [...path, EVERY_ITEM], canDoWithout)
  if (node.is !== "object") return []
  return Object.entries(node.fields).flatMap(([name, field]) => placesIn(field, [...path, name], canDoWithout))
}

const PLACES: ReadonlyMap<EventType, readonly Place[]> = new Map(
  Object.values(CATALOG).map((definition) => [definition.type, placesIn(definition.payload.node, [], false)]),
)

const REF_FIELDS: ReadonlyMap<EventType, readonly string[]> = new Map(
  [...PLACES].map(([type, places]) => [
    type,
    places.filter(({ path }) => path.length === 1).map(({ path: [field] }) => field as string),
  ]),
)
