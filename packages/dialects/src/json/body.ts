import { type JsonNode, readJson } from "@orangebox/contract"
import { type BodyNotes, newNotes } from "../memory/notes.js"
import { carriedNotes, earlierReading, type RequestMemory } from "../memory/request-memory.js"

/**
 * A body read once and shared by everything that asks about it: anatomy, signature and lanes of one request are three questions to one
 * tree, and reading the tree is most of their cost.
 */
export interface JsonBody {
  readonly bytes: Uint8Array
  readonly text: string
  /** Undefined when the bytes are not JSON. */
  readonly root: JsonNode | undefined
  /** Where a character of `text` stands in `bytes`. */
  byteOffset(character: number): number
  /** What was found out under a dialect so far; with a memory, also what the request before had found out about the same text. */
  notesFor(dialect: string): BodyNotes
}

/** @param memory of the requests before, which this one most likely repeats; see `createRequestMemory` */
export function readBody(bytes: Uint8Array, memory?: RequestMemory): JsonBody {
  const whole = decodeUtf8(bytes)
  const mark = whole.charCodeAt(0) === 0xfeff ? 1 : 0
  const text = whole.slice(mark)
  const repetition = memory?.find(text)
  const reading = readJson(text, repetition && earlierReading(repetition))
  const notes = repetition ? carriedNotes(text, repetition) : new Map<string, BodyNotes>()
  if (reading.ok) memory?.keep({ text, root: reading.node, notes }, repetition)
  return {
    bytes,
    text,
    root: reading.ok ? reading.node : undefined,
    byteOffset: byteOffsets(text, bytes.length, mark === 1 ? 3 : 0),
    notesFor(dialect) {
      const found = notes.get(dialect) ?? newNotes(text)
      notes.set(dialect, found)
      return found
    },
  }
}

export const bodyOf = (body: Uint8Array | JsonBody): JsonBody => (body instanceof Uint8Array ? readBody(body) : body)

export function decodeUtf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")
}

// Spans are asked for mostly in ascending order, so each answer starts from the last one; a body of plain ASCII needs no counting at all.
function byteOffsets(text: string, byteLength: number, before: number): (character: number) => number {
  if (text.length + before === byteLength) return (character) => character + before
  let lastCharacter = 0
  let lastByte = before
  return (character) => {
    if (character < lastCharacter) {
      lastCharacter = 0
      lastByte = before
    }
    lastByte += Buffer.byteLength(text.slice(lastCharacter, character), "utf8")
    lastCharacter = character
    // Bytes that are not UTF-8 decode to a replacement three bytes long; a span never points behind the body because of them.
    return Math.min(lastByte, byteLength)
  }
}
