import { CATALOG, type EventType } from "./catalog.js"

export interface PayloadRef {
  readonly field: string
  readonly hash: string
}

/** Every body an event's payload names. */
export function payloadRefs(type: EventType, payload: unknown): PayloadRef[] {
  const found: PayloadRef[] = []
  if (typeof payload !== "object" || payload === null) return found
  const record = payload as Record<string, unknown>
  for (const field of refFieldsOf(type)) {
    const hash = record[field]
    if (typeof hash === "string") found.push({ field, hash })
  }
  if (type === "prompt_assembled" && Array.isArray(record["segments"])) {
    record["segments"].forEach((segment: unknown, index) => {
      const hash = (segment as { content_ref?: unknown } | null)?.content_ref
      if (typeof hash === "string") found.push({ field: `segments.${index}.content_ref`, hash })
    })
  }
  return found
}

/** The payload fields of a type that name bodies, read off its schema. */
export function refFieldsOf(type: EventType): readonly string[] {
  return REF_FIELDS.get(type)!
}

interface Unwrappable {
  meta(): Record<string, unknown> | undefined
  unwrap?(): Unwrappable
}

function isBodyRef(schema: Unwrappable): boolean {
  let inner: Unwrappable | undefined = schema
  while (inner !== undefined) {
    if (inner.meta()?.["bodyRef"] === true) return true
    inner = inner.unwrap?.()
  }
  return false
}

const REF_FIELDS: ReadonlyMap<EventType, readonly string[]> = new Map(
  Object.values(CATALOG).map((definition) => [
    definition.type,
    Object.entries(definition.payload.shape)
      .filter(([, schema]) => isBodyRef(schema as unknown as Unwrappable))
      .map(([field]) => field),
  ]),
)
