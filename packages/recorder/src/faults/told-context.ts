import {
  asPointer,
  canonicalHash,
  canonicalJson,
  EXCLUDED_REASONS,
  INCLUDED_REASONS,
  type IncludedReason,
  ITEM_TYPES,
  type ItemType,
  type Segment,
  segmentKindOf,
  summarizeText,
  textHash,
} from "@orangebox/contract"
import { bytesOf } from "../captured-body.js"
import type { AssembledContext, ManifestOfContext } from "./given-context.js"

/**
 * What an application that assembles its prompts by itself says about one, before the model is asked. Hashes, sizes and the manifest are made
 * of it; what it does not say is unknown.
 */
export interface ToldContext {
  /** What the model will read, in the order in which it stands in the request. */
  readonly items: readonly ToldItem[]
  /** What was at hand and left out. An empty list says that nothing was; without a list it is unknown. */
  readonly excluded?: readonly ToldExclusion[]
  /** The request that the items were put into. What it says between them is then the application's own, and not added on the way. */
  readonly request?: unknown
  /** What the call is for, and what has to hold in it. */
  readonly objective?: string
  readonly invariants?: readonly string[]
  /** What was looked for, where items were retrieved. */
  readonly query?: string
  /** The tokens that the prompt may take. */
  readonly tokenBudget?: number
}

export interface ToldItem {
  readonly id: string
  readonly type: ItemType
  /** The words as they stand in the request. */
  readonly text: string
  /** Where it comes from: `sourceRef` of a tool call, `file:notes/a.md`, `catalog:…`, or a pointer of your own. */
  readonly sourceRef?: string
  readonly reason?: IncludedReason
  readonly tokens?: number
  readonly score?: number
  /** Who put it there, and as what; left out, its id and its type say it. */
  readonly contributor?: string
  readonly kind?: Segment["kind"]
}

export interface ToldExclusion {
  readonly id: string
  /** One of the known reasons, or words of your own. */
  readonly reason: string
  readonly type?: ItemType
  readonly sourceRef?: string
  readonly score?: number
  readonly tokens?: number
  readonly detail?: string
}

const MANIFEST_VERSION = "1.1.0"

/** Whether something was told, and not compiled. */
export const isTold = (given: unknown): given is ToldContext =>
  typeof given === "object" && given !== null && "items" in given && !("manifest" in given)

/** The first field that is not what it should be. */
export function wrongInTold({ items, excluded }: ToldContext): string | undefined {
  if (!Array.isArray(items)) return "items is no list"
  for (const [at, item] of items.entries()) {
    const wrong = wrongInItem(item)
    if (wrong !== undefined) return `items.${at}.${wrong}`
  }
  if (excluded === undefined) return undefined
  if (!Array.isArray(excluded)) return "excluded is no list"
  for (const [at, item] of excluded.entries()) {
    if (!isName(item?.id)) return `excluded.${at}.id is no text`
    if (!isName(item.reason)) return `excluded.${at}.reason is no text`
    if (item.type !== undefined && !isOneOf(ITEM_TYPES, item.type)) return `excluded.${at}.type is ${said(item.type)}`
  }
  return undefined
}

/** The first field that is not taken: a misspelt `sourceRef` would lose where an item came from, and nothing would show it. */
export function unknownInTold(told: ToldContext): string | undefined {
  const unknown = (value: object, known: readonly string[], where: string): string | undefined => {
    const field = Object.keys(value).find((name) => !known.includes(name))
    return field === undefined ? undefined : `${where}${field}; known are: ${known.join(", ")}`
  }
  const places = [
    ...told.items.map((item) => unknown(item, ITEM_FIELDS, "items.")),
    ...(told.excluded ?? []).map((item) => unknown(item, EXCLUSION_FIELDS, "excluded.")),
    unknown(told, CONTEXT_FIELDS, ""),
  ]
  return places.find((found) => found !== undefined)
}

// Values of a type that has to name every field: one that is added is missing here until it is named.
const ITEM_FIELDS = Object.keys({
  ...{ id: 1, type: 1, text: 1, sourceRef: 1, reason: 1, tokens: 1, score: 1, contributor: 1, kind: 1 },
} satisfies Record<keyof ToldItem, 1>)
const EXCLUSION_FIELDS = Object.keys({
  ...{ id: 1, reason: 1, type: 1, sourceRef: 1, score: 1, tokens: 1, detail: 1 },
} satisfies Record<keyof ToldExclusion, 1>)
const CONTEXT_FIELDS = Object.keys({
  ...{ items: 1, excluded: 1, request: 1, objective: 1, invariants: 1, query: 1, tokenBudget: 1 },
} satisfies Record<keyof ToldContext, 1>)

function wrongInItem(item: Partial<ToldItem> | null | undefined): string | undefined {
  if (!isName(item?.id)) return "id is no text"
  if (typeof item.text !== "string") return "text is no text"
  if (!isOneOf(ITEM_TYPES, item.type)) return `type is ${said(item.type)}, and not one of ${ITEM_TYPES.join(", ")}`
  if (item.reason !== undefined && !isOneOf(INCLUDED_REASONS, item.reason)) {
    return `reason is ${said(item.reason)}, and not one of ${INCLUDED_REASONS.join(", ")}`
  }
  return undefined
}

/** The same as the compiler hands it over. */
export function contextOfTold(told: ToldContext): AssembledContext {
  const encoder = new TextEncoder()
  const bodies = new Map<string, Uint8Array>()
  const keep = (text: string): string => {
    const ref = textHash(text)
    bodies.set(ref, encoder.encode(text))
    return ref
  }
  const items = uniquely(told.items).map((item) => ({ ...item, ref: keep(item.text.toWellFormed()) }))
  const request = told.request === undefined ? undefined : bytesOf(told.request).bytes
  return {
    manifest: manifestOf(told, items, keep),
    segments: items.map(({ contributor, id, kind, type, text, tokens, ref }) => ({
      contributor: (isName(contributor) ? contributor : id).slice(0, LONGEST_CONTRIBUTOR),
      kind: kind ?? segmentKindOf(type),
      length: encoder.encode(text).length,
      ...(isCount(tokens) ? { tokens } : {}),
      ref,
    })),
    bodies,
    prompt: told.request,
    expected: { texts: items.map(({ text }) => text), request },
    template: { id: null, version: null },
  }
}

const LONGEST_CONTRIBUTOR = 512

function manifestOf(
  told: ToldContext,
  items: readonly (ToldItem & { readonly ref: string })[],
  keep: (text: string) => string,
): ManifestOfContext {
  const { objective, invariants = [], query, excluded } = told
  const left = excluded && uniquely(excluded)
  const intent = typeof objective === "string" ? { objective, invariants: invariants.map(String) } : null
  const scored = [...items, ...(left ?? [])].filter(({ score }) => typeof score === "number" && Number.isFinite(score))
  const counts = items.map(({ tokens }) => tokens)
  return {
    manifest_version: MANIFEST_VERSION,
    made_by: "application",
    revision: 0,
    snapshot_id: `snapshot_${canonicalHash(items.map(({ id, ref }) => [id, ref])).slice(7, 39)}`,
    request_ref: null,
    stage: null,
    intent: intent && {
      objective: summarizeText(intent.objective),
      invariants: intent.invariants.map((text) => summarizeText(text)),
    },
    intent_ref: intent && keep(canonicalJson(intent)),
    retrieval_query: typeof query === "string" ? summarizeText(query) : null,
    retrieval_query_ref: typeof query === "string" ? keep(query) : null,
    retrievers: null,
    candidate_chunk_ids:
      scored.length === 0
        ? null
        : scored.map(({ id, score }) => ({ chunk_id: id, score: score! })).sort((a, b) => b.score - a.score),
    selected_chunk_ids: scored.length === 0 ? null : items.filter((item) => scored.includes(item)).map(({ id }) => id),
    reranker_model: null,
    reranker_version: null,
    token_budget: isCount(told.tokenBudget)
      ? { ctx_max_tokens: told.tokenBudget, prompt_tokens: counts.every(isCount) ? sum(counts) : null }
      : null,
    compiler_version: null,
    grammar_name: null,
    prefix_hash: null,
    prefix_length: null,
    prompt_hash: null,
    prompt_length: null,
    considered_count: left === undefined ? null : items.length + left.length,
    inclusion_log: items.map(({ id, type, sourceRef, reason, tokens, ref }) => ({
      item_id: id,
      item_type: type,
      source_ref: sourceRef ?? null,
      included_reason: reason ?? null,
      section: null,
      tier: null,
      tokens: isCount(tokens) ? tokens : null,
      rendered_ref: ref,
      source_hash: ref,
    })),
    exclusion_log: left === undefined ? null : left.map(exclusionOf),
    provenance: [],
    faults: [],
  }
}

function exclusionOf({ id, type, sourceRef, reason, score, tokens, detail }: ToldExclusion) {
  const isKnown = isOneOf(EXCLUDED_REASONS, reason)
  const words = isKnown ? detail : [reason, ...(detail === undefined ? [] : [detail])].join(": ")
  return {
    item_id: id,
    item_type: type ?? ("evidence" as const),
    source_ref: sourceRef ?? null,
    excluded_reason: isKnown ? reason : "other",
    ...(typeof score === "number" && Number.isFinite(score) ? { score } : {}),
    ...(isCount(tokens) ? { tokens } : {}),
    ...(words === undefined ? {} : { detail: summarizeText(words) }),
  }
}

/** Ids are told apart: the second `doc` is `doc~2`. Pointers keep a bearable length. */
function uniquely<T extends { readonly id: string; readonly sourceRef?: string }>(items: readonly T[]): T[] {
  const taken = new Set<string>()
  return items.map((item) => {
    let id = asPointer(item.id)
    for (let n = 2; taken.has(id); n++) id = `${asPointer(item.id)}~${n}`
    taken.add(id)
    const sourceRef = isName(item.sourceRef) ? asPointer(item.sourceRef) : undefined
    return { ...item, id, sourceRef }
  })
}

const isName = (value: unknown): value is string => typeof value === "string" && value !== ""
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
const isOneOf = <T extends string>(words: readonly T[], word: unknown): word is T =>
  (words as readonly unknown[]).includes(word)
const said = (value: unknown): string => (typeof value === "string" ? `"${value.slice(0, 40)}"` : typeof value)
const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)
