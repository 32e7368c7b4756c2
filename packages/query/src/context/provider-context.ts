import type { JsonNode } from "@orangebox/contract"
import type { JsonValue } from "@orangebox/dialects"
import { foldedAnswer } from "@orangebox/runs"
import type { Bodies } from "./context-reading.js"
import type { RecordedContext } from "./recorded-contexts.js"
import { type ReadableRequest, readableRequest } from "./request-on-record.js"
import { READER } from "./segment-items.js"

/** The provider's part in a context: what it adds, and what it takes out behind the back of the request. */
export interface ProviderContext {
  /** `held` it adds what the request only names · `may_edit` it was allowed to change the context · `edited` it says that it did. */
  readonly role: "held" | "may_edit" | "edited"
  /** `previous_response`, `conversation`, `file` … or the kind of edit in the provider's words. */
  readonly what: string
  readonly id: string | undefined
  /** Counts that came with an edit, such as how many tool uses were cleared. */
  readonly counts: readonly { readonly name: string; readonly count: number }[]
  readonly inferredBy: string
}

export function providerContextOf(context: RecordedContext, bodies: Bodies): readonly ProviderContext[] {
  const request = readableRequest(context, bodies)
  return [
    ...(request ? heldIn(request) : heldOnRecord(context)),
    ...allowedIn(request),
    ...editsIn(context, request, bodies),
  ]
}

const found = (role: ProviderContext["role"], what: string, more: Partial<ProviderContext> = {}): ProviderContext => ({
  role,
  what,
  id: undefined,
  counts: [],
  inferredBy: READER,
  ...more,
})

const heldIn = ({ anatomy }: ReadableRequest): ProviderContext[] =>
  anatomy.serverContext.map(({ what, id }) => found("held", what, { id: id ?? undefined }))

/** Stamped at capture, so that it is known also where the request is not kept. */
function heldOnRecord({ step }: RecordedContext): ProviderContext[] {
  const held = step.attributes["context_held_by_provider"]
  return typeof held === "string" ? held.split(" ").map((what) => found("held", what, { inferredBy: "dialects" })) : []
}

function allowedIn(request: ReadableRequest | undefined): ProviderContext[] {
  const { context_management, truncation } = request?.anatomy.params ?? {}
  const edits = memberOf(context_management, "edits") ?? context_management
  const asked = (edits?.kind === "array" ? edits.items : []).flatMap((edit) => textOf(memberOf(edit, "type")) ?? [])
  const isTruncating = textOf(truncation) === "auto"
  return [...asked, ...(isTruncating ? ["truncation"] : [])].map((what) => found("may_edit", what))
}

function editsIn(
  { response }: RecordedContext,
  request: ReadableRequest | undefined,
  bodies: Bodies,
): ProviderContext[] {
  const bytes = response === undefined ? undefined : bodies.get(response)
  if (!request || bytes === undefined) return []
  try {
    const { message } = foldedAnswer(bytes, request.dialect)!
    const applied = listAt(recordAt(message, "context_management"), "applied_edits").map(editOf)
    const blocks = [...listAt(message, "content"), ...listAt(message, "output")]
    const summaries = blocks.filter((block) => recordOf(block)["type"] === "compaction")
    return [...applied, ...summaries.map(() => found("edited", "compaction"))]
  } catch {
    return []
  }
}

function editOf(edit: JsonValue): ProviderContext {
  const { type, ...more } = recordOf(edit)
  const counts = Object.entries(more).flatMap(([name, count]) => (typeof count === "number" ? [{ name, count }] : []))
  return found("edited", typeof type === "string" ? type : "unknown", { counts })
}

const recordOf = (value: JsonValue | undefined): { readonly [key: string]: JsonValue } =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value : {}
const recordAt = (value: JsonValue, key: string): JsonValue => recordOf(value)[key] ?? null
const listAt = (value: JsonValue, key: string): readonly JsonValue[] => {
  const list = recordOf(value)[key]
  return Array.isArray(list) ? list : []
}

const memberOf = (node: JsonNode | undefined, key: string): JsonNode | undefined =>
  node?.kind === "object" ? node.members.find((member) => member.key === key)?.value : undefined
const textOf = (node: JsonNode | undefined): string | undefined => (node?.kind === "string" ? node.value : undefined)
