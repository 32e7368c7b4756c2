import { isUtf8 } from "node:buffer"
import { type JsonNode, readJson } from "@orangebox/contract"
import { readCutJson } from "./closed-json.js"
import type { Secret } from "./find-secrets.js"
import { type Framer, type Framing, framerOf } from "./frame-ends.js"
import { sparingStructure } from "./json-structure.js"
import { MASK_MIDDLE, type Mask, maskedSecret, secretTag } from "./mask.js"
import { masksInBytes, type RedactedBytes, redactOctets } from "./redact-bytes.js"
import { applyMasks } from "./redact-text.js"
import type { Ruleset } from "./ruleset.js"
import { SearchBudget } from "./search-budget.js"
import { searchText } from "./search-text.js"
import { StreamBlock } from "./stream-block.js"

/** One read off the wire. */
export interface Arrival {
  readonly atMicros: number
}

/** A stretch of a stream as it may be stored, and with which read it came. */
export interface Piece {
  readonly bytes: Uint8Array
  /** Offsets from the start of the piece. */
  readonly masks: readonly Mask[]
  readonly arrival: Arrival
  readonly failed?: true
}

/** The text that one frame carries, as the provider's dialect reads it. */
export interface FrameText {
  readonly deltas: readonly {
    readonly lane: string
    /** Names the content block that the text continues. */
    readonly block: string
    /** The JSON string that holds the text. */
    readonly node: Extract<JsonNode, { readonly kind: "string" }>
    /** It may be whole as well. */
    readonly isGuess?: true
  }[]
  /** Lanes whose blocks end with this frame. */
  readonly ends: readonly string[] | "all"
}

/**
 * Redacts a streamed answer of which each frame carries a few characters. The text of a block is put together from its frames, whatever
 * comes in between, and searched as one; a frame whose text is still being judged waits, and every frame behind it. A secret that spans frames
 * is masked in the first of them and cut out of the others. Frames in which nothing was found go out byte for byte.
 *
 * A block that is left in the middle of a word does not hold up the stream for ever: an ordinary word is let go, anything else is withheld
 * with the rest of its block.
 */
export class FrameRedactor {
  readonly #ruleset: Ruleset
  readonly #readFrame: (frame: JsonNode) => FrameText
  readonly #framing: Framing
  readonly #framer: Framer
  /** One for all blocks: a stream has as many as it likes. */
  readonly #budget = new SearchBudget()
  /** What has come of a frame that has not ended: `#rest` up to `#restLength`, with room for more. */
  #rest: Buffer = Buffer.alloc(0)
  #restLength = 0
  #waiting: Frame[] = []
  #waitingBytes = 0
  /** Bytes of all frames so far. */
  #taken = 0
  #knowsProtocol = false
  readonly #blocks = new Map<string, { readonly block: StreamBlock; readonly lane: string }>()

  constructor(ruleset: Ruleset, framing: Framing, readFrame: (frame: JsonNode) => FrameText) {
    this.#ruleset = ruleset
    this.#readFrame = readFrame
    this.#framing = framing
    this.#framer = framerOf(framing)
  }

  push(bytes: Uint8Array, arrival: Arrival): Piece[] {
    let seen = this.#restLength
    const buffer = this.#withRest(bytes)
    let start = 0
    for (let end = this.#framer.end(buffer, start, seen); end >= 0; end = this.#framer.end(buffer, start, seen)) {
      this.#take(buffer.subarray(start, end), arrival)
      start = end
      seen = end
    }
    if (buffer.length - start > LONGEST_FRAME) {
      this.#take(buffer.subarray(start), arrival)
      start = buffer.length
    }
    if (start > 0) this.#rest.copyWithin(0, start, buffer.length)
    this.#restLength = buffer.length - start
    return this.#release()
  }

  /** How many bytes have come that were not given out. */
  get heldBytes(): number {
    return this.#waitingBytes + this.#restLength
  }

  finish(arrival: Arrival): Piece[] {
    if (this.#restLength > 0) this.#take(this.#rest.subarray(0, this.#restLength), arrival)
    this.#restLength = 0
    this.#endLanes("all")
    return this.#release()
  }

  /** What was left, and the new bytes behind it. The room doubles when it is full, so that a frame of any size costs its length. */
  #withRest(bytes: Uint8Array): Buffer {
    const length = this.#restLength + bytes.length
    if (length > this.#rest.length) {
      const room = Buffer.allocUnsafe(Math.max(1024, 2 * length))
      this.#rest.copy(room, 0, 0, this.#restLength)
      this.#rest = room
    }
    this.#rest.set(bytes, this.#restLength)
    return this.#rest.subarray(0, length)
  }

  #take(given: Buffer, arrival: Arrival): void {
    // A copy: the room is used again.
    const bytes = Buffer.from(given)
    this.#taken += bytes.length
    this.#waitingBytes += bytes.length
    const text = isUtf8(bytes) ? bytes.toString("utf8") : undefined
    const parts: Part[] = []
    const regions = text === undefined ? [] : [...regionsOf(text, this.#framing)]
    for (const region of regions) this.#read(region, parts)
    this.#waiting.push({ bytes, text, arrival, parts, json: regions.filter(({ isJson }) => isJson) })
  }

  #read({ at, text, channel, isJson }: DataRegion, parts: Part[]): void {
    if (text.trim() === "[DONE]") {
      this.#endLanes("all")
      return
    }
    const reading = isJson ? readJson(text) : undefined
    const node = reading?.ok ? reading.node : isJson ? readCutJson(text) : undefined
    if (node === undefined) {
      // No JSON: the text itself is what comes in pieces.
      const part = this.#append(`${channel}|text`, "", text, true)
      if (part !== undefined) parts.push({ ...part, start: at, end: at + text.length, as: "text" })
      return
    }
    const { deltas, ends } = this.#readFrame(node)
    for (const { lane, block, node: string, isGuess } of deltas) {
      if (isGuess && this.#knowsProtocol) continue
      if (!isGuess) this.#knowsProtocol = true
      const part = this.#append(`${channel}|${block}`, lane, string.value, isGuess === true)
      const isCut = string.end > text.length
      const end = at + Math.min(string.end, text.length)
      if (part !== undefined)
        parts.push({ ...part, start: at + string.start, end, as: isCut ? "cut string" : "string" })
    }
    this.#endLanes(ends)
  }

  #append(name: string, lane: string, text: string, isGuess: boolean): Omit<Part, "start" | "end" | "as"> | undefined {
    let block = this.#blocks.get(name)?.block
    if (block?.repeats(text)) {
      if (!this.#budget.isSpent) block.settle()
      return undefined
    }
    if (block === undefined || block.isFinished) {
      block = new StreamBlock(this.#ruleset, this.#budget, isGuess)
      this.#blocks.set(name, { block, lane })
    }
    const from = block.received
    block.touched = this.#taken
    block.push(text)
    return { block, from, to: block.received, value: text }
  }

  #endLanes(ends: readonly string[] | "all"): void {
    for (const [name, { block, lane }] of this.#blocks) {
      if (ends !== "all" && !ends.includes(lane)) continue
      block.finish()
      this.#blocks.delete(name)
    }
  }

  #release(): Piece[] {
    const pieces: Piece[] = []
    let released = 0
    for (const frame of this.#waiting) {
      if (!frame.parts.every((part) => this.#isJudged(part))) break
      pieces.push(this.#redacted(frame))
      released++
      this.#waitingBytes -= frame.bytes.length
    }
    if (released > 0) this.#waiting = this.#waiting.slice(released)
    return pieces
  }

  /** Whether a part of the frame that is to go out next has been judged, if need be now. */
  #isJudged({ block, to }: Part): boolean {
    if (to <= block.judged) return true
    const left = this.#taken - block.touched
    if (block.isGuess) {
      // What was only a guess is let go before long: no secret is spread so thin. Where looks are dear, later.
      const isDear = this.#budget.isSpent
      if ((block.holdsPlainWord && !isDear) || this.#waitingBytes > (isDear ? MOST_PATIENCE : PATIENCE)) block.settle()
    } else if (left > MOST_PATIENCE) block.withhold()
    else if (left > PATIENCE && block.holdsPlainWord) block.settle()
    return to <= block.judged
  }

  #redacted(frame: Frame): Piece {
    const { arrival, bytes, text } = frame
    if (frame.parts.some(({ block }) => block.hasFailed)) return failedPiece(arrival)
    try {
      return text === undefined
        ? withTime(redactOctets(bytes, this.#ruleset), arrival)
        : this.#redactedText(frame, text)
    } catch {
      return failedPiece(arrival)
    }
  }

  #redactedText({ arrival, bytes, parts, json }: Frame, text: string): Piece {
    const spliced = splice(text, parts, this.#ruleset.key)
    // What is whole in this frame alone: an error message, the answer told once more at the end.
    const { text: redacted, masks } = maskFurther(spliced, json.length > 0, this.#framing, this.#ruleset)
    // A frame that only held the middle of a secret has lost it and holds no mask.
    if (redacted === text) return { bytes, masks, arrival }
    return { bytes: Buffer.from(redacted), masks: masksInBytes(redacted, masks), arrival }
  }
}

/** A frame without an end is no frame; what there is of it is searched for itself. */
const LONGEST_FRAME = 4 * 1024 * 1024
/** So many bytes may come while a block rests in the middle of an ordinary word. */
const PATIENCE = 8 * 1024
/** And so many while it rests in the middle of what may be a secret. */
const MOST_PATIENCE = 64 * 1024
/** A comment to every reader of event streams, and to a reader of lines a line that is no JSON. */
const FAILED_FRAME = Buffer.from(`: ${MASK_MIDDLE}\n\n`)

const failedPiece = (arrival: Arrival): Piece => ({ bytes: FAILED_FRAME, masks: [], arrival, failed: true })

function withTime({ bytes, masks, failed }: RedactedBytes, arrival: Arrival): Piece {
  return failed === undefined ? { bytes, masks, arrival } : failedPiece(arrival)
}

interface Frame {
  readonly bytes: Buffer
  /** Undefined where the bytes are no text. */
  readonly text: string | undefined
  readonly arrival: Arrival
  readonly parts: readonly Part[]
  readonly json: readonly DataRegion[]
}

/** Where a frame holds characters `from` to `to` of a block: as a JSON string between `start` and `end`, quotes included, or as plain text. */
interface Part {
  readonly block: StreamBlock
  readonly from: number
  readonly to: number
  readonly value: string
  readonly start: number
  readonly end: number
  readonly as: "string" | "cut string" | "text"
}

function splice(text: string, parts: readonly Part[], key: Uint8Array): { text: string; masks: Mask[] } {
  const masks: Mask[] = []
  let spliced = ""
  let at = 0
  for (const { block, from, to, value, start, end, as } of [...parts].sort((a, b) => a.start - b.start)) {
    const inside = block.secretsIn(from, to)
    if (inside.length === 0) continue
    const written = as === "text" ? (part: string) => part : escaped
    const quote = as === "text" ? "" : '"'
    spliced += text.slice(at, start) + quote
    let done = 0
    for (const { start: begins, end: ends, rule, secret, plain } of inside) {
      spliced += written(value.slice(done, Math.max(0, begins - from)))
      // The first frame the secret stands in gets its mask.
      if (begins >= from) {
        const masked = written(maskedSecret(secret))
        masks.push({ offset: spliced.length, length: masked.length, rule, tag: secretTag(key, plain) })
        spliced += masked
      }
      done = Math.min(value.length, ends - from)
    }
    spliced += written(value.slice(done)) + (as === "cut string" ? "" : quote)
    at = end
  }
  return { text: spliced + text.slice(at), masks }
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)

/** Masks what is found in a text that may hold masks already. */
function maskFurther(
  { text, masks }: { readonly text: string; readonly masks: readonly Mask[] },
  holdsJson: boolean,
  framing: Framing,
  ruleset: Ruleset,
): { text: string; masks: readonly Mask[] } {
  const { secrets } = searchText(text, ruleset)
  if (secrets.length === 0) return { text, masks }
  const spared = holdsJson ? sparingFrame(text, secrets, framing, ruleset) : secrets
  const further = applyMasks(text, spared, ruleset.key)
  return { text: further.text, masks: mergedMasks(masks, spared, further.masks) }
}

/** The masks of a text, moved to where they stand after more was masked in it; those that were masked over are gone. */
function mergedMasks(earlier: readonly Mask[], secrets: readonly Secret[], added: readonly Mask[]): Mask[] {
  const all = [...added]
  let shift = 0
  let next = 0
  for (const mask of earlier) {
    while (next < secrets.length && secrets[next]!.end <= mask.offset) {
      const behind = added[next]!.offset + added[next]!.length + (secrets[next]!.isNumber ? 1 : 0)
      shift = behind - secrets[next]!.end
      next++
    }
    const over = secrets[next]
    if (over === undefined || over.start >= mask.offset + mask.length)
      all.push({ ...mask, offset: mask.offset + shift })
  }
  return all.sort((a, b) => a.offset - b.offset)
}

function sparingFrame(text: string, secrets: readonly Secret[], framing: Framing, ruleset: Ruleset): readonly Secret[] {
  const regions = [...regionsOf(text, framing)].filter(({ isJson }) => isJson)
  const outside = secrets.filter(
    ({ start }) => !regions.some(({ at, text }) => start >= at && start < at + text.length),
  )
  const inside = regions.flatMap(({ at, text: json }) =>
    sparingStructure(
      json,
      secrets.flatMap((secret) =>
        secret.start >= at && secret.start < at + json.length
          ? [{ ...secret, start: secret.start - at, end: Math.min(secret.end - at, json.length) }]
          : [],
      ),
      ruleset,
    ).map((secret) => ({ ...secret, start: secret.start + at, end: secret.end + at })),
  )
  return [...outside, ...inside].sort((a, b) => a.start - b.start)
}

/** A stretch of a frame that carries data. */
interface DataRegion {
  readonly at: number
  readonly text: string
  /** Lines of some protocols begin with a letter that says what they carry. */
  readonly channel: string
  readonly isJson: boolean
}

/** What stands behind `data:`, the whole of a line, or an element of an array. Data over several lines is no JSON of any provider's. */
function* regionsOf(text: string, framing: Framing): Generator<DataRegion> {
  if (framing === "array") {
    const at = text.indexOf("{")
    if (at >= 0) yield { at, text: text.slice(at), channel: "", isJson: true }
    return
  }
  // Not by `.` and `$`: these stop at line separators that JSON may hold as they are.
  const line = framing === "sse" ? /(?<=^|[\r\n])data: ?([^\r\n]*)/g : /(?<=^|\n)([^\n]*\n?)/g
  for (let match = line.exec(text); match !== null && match[0] !== ""; match = line.exec(text)) {
    const channel = framing === "lines" ? (/^[0-9a-z]:(?=["{[])/.exec(match[1]!)?.[0] ?? "") : ""
    const data = match[1]!.slice(channel.length)
    const at = match.index + match[0].length - data.length
    if (data.trim() !== "") yield { at, text: data, channel, isJson: /^\s*["{[]/.test(data) }
  }
}
