import { bodyHash, canonicalJsonNode, type JsonMember, type JsonNode, textHash } from "@orangebox/contract"
import type { CanonicalRequest } from "../dialect.js"
import { arrayNode, objectNode, stringAt, textNode } from "../json/node.js"
import type { BodyNotes } from "../memory/notes.js"
import { canonicalPiece, type Dropped, watchedIds } from "./canonical-piece.js"
import type { IdNaming } from "./id-naming.js"
import { decodedMedia, IS_ADDRESS } from "./media.js"

/** What happens to a member of a known object; undefined takes it out. */
export type MemberRule = (value: JsonNode, pointer: string) => JsonNode | undefined
export type RuleTable = Readonly<Record<string, MemberRule>>

/** The tools a dialect's table is written with. One is made per request, because ids are numbered per request. */
export interface Canon {
  /** Takes a member out and remembers it. */
  readonly drop: MemberRule
  readonly callId: MemberRule
  readonly producerId: MemberRule
  /** Opaque text that must come back unchanged, such as a thinking signature. */
  readonly opaque: MemberRule
  /** Base64, or a data URL: the bytes count, not their spelling. */
  readonly media: MemberRule
  readonly object: (table: RuleTable) => MemberRule
  readonly items: (rule: MemberRule) => MemberRule
  /** For what the next request repeats, such as a message: its canonical text is noted, and taken from the notes where it is there. */
  readonly piece: (rule: MemberRule) => MemberRule
  request(body: JsonNode | undefined, root: JsonNode): CanonicalRequest
}

export function newCanon(ids: IdNaming, notes?: BodyNotes): Canon {
  const nonsemantic: Dropped[] = []
  const known = new Map<JsonNode, string>()
  const watched = watchedIds(ids)
  return {
    request: (body, root) => ({ body: body ?? root, known, nonsemantic }),
    drop(value, pointer) {
      nonsemantic.push({ pointer, value })
      return undefined
    },
    callId: (value) => (value.kind === "string" ? textNode(watched.call(value.value), value) : value),
    producerId: (value) => (value.kind === "string" ? textNode(watched.producer(value.value), value) : value),
    opaque: (value) => (value.kind === "string" ? textNode(opaqueToken(value.value), value) : value),
    media: (value) => (value.kind === "string" ? textNode(mediaToken(value.value), value) : value),
    object: (table) => {
      let rules: ReadonlyMap<string, MemberRule> | undefined
      return (value, pointer) => {
        rules ??= new Map(Object.entries(table))
        return rewriteObject(value, pointer, rules)
      }
    },
    items: (rule) => (value, pointer) => rewriteItems(value, pointer, rule),
    piece: (rule) => {
      if (notes === undefined) return rule
      return (value, pointer) => {
        const text = canonicalPiece(notes, watched, nonsemantic, rule, value, pointer)
        if (text === undefined) return undefined
        known.set(value, text)
        return value
      }
    },
  }
}

/** A rule that is made when it is first needed: with everything noted already, most never are. */
export function later(make: () => MemberRule): MemberRule {
  let made: MemberRule | undefined
  return (value, pointer) => {
    made ??= make()
    return made(value, pointer)
  }
}

/** Members of every dialect that say how to send, bill or cache, and not what to answer. */
export const NONSEMANTIC = [
  "cache_control",
  "prompt_cache_breakpoint",
  "prompt_cache_key",
  "prompt_cache_retention",
  "prompt_cache_options",
  "user",
  "safety_identifier",
  "service_tier",
  "store",
  "client_metadata",
  "stream",
  "stream_options",
] as const

export function nonsemanticTable(canon: Canon): RuleTable {
  return Object.fromEntries(NONSEMANTIC.map((key) => [key, canon.drop]))
}

// Rules are applied in the order of the keys, not in that of the text: ids are numbered by first appearance, and key order must not decide
// which comes first. Most objects have one such member or none, and are left alone.
function rewriteObject(node: JsonNode, pointer: string, rules: ReadonlyMap<string, MemberRule>): JsonNode {
  if (node.kind !== "object") return node
  const { members } = node
  const ruled: { readonly index: number; readonly key: string; readonly rule: MemberRule }[] = []
  for (let index = 0; index < members.length; index++) {
    const { key } = members[index]!
    const rule = rules.get(key)
    if (rule !== undefined) ruled.push({ index, key, rule })
  }
  if (ruled.length === 0) return node
  if (ruled.length > 1) ruled.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  const rewritten: (JsonMember | undefined)[] = members.slice()
  // A table's keys are plain words, so the pointer needs no escapes.
  for (const { index, key, rule } of ruled) {
    const value = rule(members[index]!.value, `${pointer}/${key}`)
    rewritten[index] = value && { key, value }
  }
  return objectNode(
    rewritten.filter((member) => member !== undefined),
    node,
  )
}

function rewriteItems(node: JsonNode, pointer: string, rule: MemberRule): JsonNode {
  if (node.kind !== "array") return node
  const kept: JsonNode[] = []
  for (let index = 0; index < node.items.length; index++) {
    const item = rule(node.items[index]!, `${pointer}/${index}`)
    if (item !== undefined) kept.push(item)
  }
  return arrayNode(kept, node)
}

/** A list whose order has no meaning, in one order. */
export function sortedByName(node: JsonNode, nameOf: (item: JsonNode) => string | null): JsonNode {
  if (node.kind !== "array") return node
  const keyed = node.items.map((item) => ({ item, name: nameOf(item) ?? stringAt(item, "type") ?? "" }))
  const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
  keyed.sort((a, b) => compare(a.name, b.name) || compare(canonicalJsonNode(a.item), canonicalJsonNode(b.item)))
  return arrayNode(
    keyed.map(({ item }) => item),
    node,
  )
}

// A token stays what it is, so that the canonical form of a canonical form is itself.
const TOKEN = /^@(?:opaque|bytes):(?:[^:]*:)?sha256:[0-9a-f]{64}$/

function opaqueToken(text: string): string {
  return TOKEN.test(text) ? text : `@opaque:${textHash(text)}`
}

function mediaToken(text: string): string {
  if (TOKEN.test(text)) return text
  if (IS_ADDRESS.test(text)) return text
  const media = decodedMedia(text, true)
  return media === undefined ? opaqueToken(text) : `@bytes:${media.type}:${bodyHash(media.bytes)}`
}
