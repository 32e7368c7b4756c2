import { canonicalJsonNode, type JsonNode } from "@orangebox/contract"
import { itemsOf, memberOf } from "../json/node.js"
import { type BodyNotes, pieceOf } from "../memory/notes.js"
import type { MemberRule } from "./canon.js"
import type { IdNaming } from "./id-naming.js"

export interface Dropped {
  readonly pointer: string
  readonly value: JsonNode
}

/** The ids, handed on to a caller that wants to know which of them a value depends on. */
export interface WatchedIds extends IdNaming {
  calls: [id: string, name: string][]
  hasProducer: boolean
}

export function watchedIds(ids: IdNaming): WatchedIds {
  return {
    calls: [],
    hasProducer: false,
    call(id) {
      const name = ids.call(id)
      this.calls.push([id, name])
      return name
    },
    producer(id) {
      this.hasProducer = true
      return ids.producer(id)
    },
  }
}

/**
 * The canonical text of a value, from the notes where it can be: when its call ids get the names they had, and no id in it stands for a
 * call that others have to know. Undefined when nothing is left of the value.
 */
export function canonicalPiece(
  notes: BodyNotes,
  ids: WatchedIds,
  nonsemantic: Dropped[],
  rule: MemberRule,
  value: JsonNode,
  pointer: string,
): string | undefined {
  const piece = pieceOf(notes, value)
  const noted = piece.canonical
  if (noted?.calls.every(([id, name]) => ids.call(id) === name)) {
    for (const inner of noted.dropped) nonsemantic.push({ pointer: pointer + inner, value: resolve(value, inner)! })
    return noted.text
  }
  ids.calls = []
  ids.hasProducer = false
  const from = nonsemantic.length
  const rewritten = rule(value, pointer)
  // Taken away at once: later values go on telling their ids, and must not add them to what is noted of this one.
  const { calls, hasProducer } = ids
  ids.calls = []
  if (rewritten === undefined) return undefined
  const text = ownCopy(canonicalJsonNode(rewritten, { text: notes.text }))
  const dropped = nonsemantic
    .slice(from)
    .map((member) => ({ ...member, pointer: member.pointer.slice(pointer.length) }))
  // Of a key that is written twice, both may have been taken out, and a pointer finds but one.
  const isFoundAgain = dropped.every((member) => resolve(value, member.pointer) === member.value)
  if (isFoundAgain && !hasProducer) {
    piece.canonical = { text, calls, dropped: dropped.map((member) => member.pointer) }
  }
  return text
}

// What is put together from pieces of a body keeps that whole body in memory, and these texts are handed on from request to request.
// Canonical text has no lone surrogates, so nothing is lost on the way through bytes.
const ownCopy = (text: string): string => Buffer.from(text, "utf8").toString("utf8")

function resolve(value: JsonNode, pointer: string): JsonNode | undefined {
  let found: JsonNode | undefined = value
  for (const key of pointer.split("/").slice(1)) {
    found = found?.kind === "array" ? itemsOf(found)[Number(key)] : memberOf(found, key)
  }
  return found
}
