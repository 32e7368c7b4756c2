import { isUtf8 } from "node:buffer"
import { type JsonNode, readJson } from "@orangebox/contract"
import { MASK_MIDDLE, type Mask, maskedSecret, secretTag } from "./mask.js"
import { masksInBytes, type RedactedBytes, redactOctets } from "./redact-bytes.js"
import type { Ruleset } from "./ruleset.js"
import { searchText } from "./search-text.js"
import { StreamSearch } from "./stream-search.js"

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
  }[]
  /** Lanes whose block ends with this frame. */
  readonly ends: readonly string[] | "all"
}

/**
 * Redacts a streamed answer of which each frame carries a few characters. The text of a block is put together from its frames and searched
 * as one; a frame whose text is still being judged waits, and every frame behind it. A secret that spans frames is masked in the first of
 * them and cut out of the others. Frames in which nothing was found go out byte for byte.
 */
export class FrameRedactor {
  readonly #ruleset: Ruleset
  readonly #readFrame: (frame: JsonNode) => FrameText
  readonly #isEnd: (buffer: Buffer, from: number) => number
  #rest: Buffer = Buffer.alloc(0)
  readonly #waiting: Frame[] = []
  readonly #blocks = new Map<string, Block>()
  /** The block each lane is writing. */
  readonly #openBlocks = new Map<string, Block>()

  constructor(ruleset: Ruleset, framing: "sse" | "lines", readFrame: (frame: JsonNode) => FrameText) {
    this.#ruleset = ruleset
    this.#readFrame = readFrame
    this.#isEnd = framing === "sse" ? endOfEvent : endOfLine
  }

  push(bytes: Uint8Array, arrival: Arrival): Piece[] {
    let buffer = this.#rest.length === 0 ? asBuffer(bytes) : Buffer.concat([this.#rest, bytes])
    let start = 0
    // A frame's end may have come in two pieces.
    let from = Math.max(0, this.#rest.length - LONGEST_END)
    for (;;) {
      const end = this.#isEnd(buffer, from)
      if (end < 0) break
      this.#take(buffer.subarray(start, end), arrival)
      start = end
      from = end
    }
    buffer = buffer.subarray(start)
    if (buffer.length > LONGEST_FRAME) {
      this.#take(buffer, arrival)
      buffer = Buffer.alloc(0)
    }
    // A copy: what was pushed belongs to the caller.
    this.#rest = Buffer.from(buffer)
    return this.#release()
  }

  finish(arrival: Arrival): Piece[] {
    if (this.#rest.length > 0) this.#take(this.#rest, arrival)
    this.#rest = Buffer.alloc(0)
    for (const block of this.#openBlocks.values()) block.finish()
    this.#openBlocks.clear()
    return this.#release()
  }

  #take(bytes: Buffer, arrival: Arrival): void {
    if (!isUtf8(bytes)) {
      this.#waiting.push({ bytes: Buffer.from(bytes), text: undefined, arrival, parts: [] })
      return
    }
    const text = bytes.toString("utf8")
    const parts: Part[] = []
    for (const { at, json } of jsonIn(text)) {
      const reading = readJson(json)
      if (!reading.ok) continue
      const { deltas, ends } = this.#readFrame(reading.node)
      for (const delta of deltas) parts.push(this.#append(delta, at))
      this.#endLanes(ends)
    }
    this.#waiting.push({ bytes: Buffer.from(bytes), text, arrival, parts })
  }

  #append({ lane, block: name, node }: FrameText["deltas"][number], at: number): Part {
    let block = this.#blocks.get(name)
    const writing = this.#openBlocks.get(lane)
    if (block === undefined || block.isFinished) {
      block = new Block(this.#ruleset)
      this.#blocks.set(name, block)
    }
    if (writing !== block) {
      writing?.finish()
      this.#openBlocks.set(lane, block)
    }
    const from = block.received
    block.push(node.value)
    return { block, from, to: block.received, start: at + node.start, end: at + node.end }
  }

  #endLanes(ends: readonly string[] | "all"): void {
    for (const lane of ends === "all" ? [...this.#openBlocks.keys()] : ends) {
      this.#openBlocks.get(lane)?.finish()
      this.#openBlocks.delete(lane)
    }
  }

  #release(): Piece[] {
    const pieces: Piece[] = []
    while (this.#waiting.length > 0) {
      const frame = this.#waiting[0]!
      if (!frame.parts.every(({ block, to }) => to <= block.judged)) break
      this.#waiting.shift()
      pieces.push(this.#redacted(frame))
    }
    return pieces
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

  #redactedText({ arrival, bytes, parts }: Frame, text: string): Piece {
    const spliced = splice(text, parts, this.#ruleset.key)
    // What is whole in this frame alone: an error message, the answer told once more at the end.
    const { text: redacted, masks } = maskFurther(spliced.text, spliced.masks, this.#ruleset)
    // A frame that only held the middle of a secret has lost it and holds no mask.
    if (redacted === text) return { bytes, masks, arrival }
    return { bytes: Buffer.from(redacted), masks: masksInBytes(redacted, masks), arrival }
  }
}

const LONGEST_END = 4
/** A frame without an end is no frame; what there is of it is searched for itself. */
const LONGEST_FRAME = 4 * 1024 * 1024
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
}

/** Where a frame holds characters `from` to `to` of a block: as a JSON string between `start` and `end`, quotes included. */
interface Part {
  readonly block: Block
  readonly from: number
  readonly to: number
  readonly start: number
  readonly end: number
}

/** The text of one block as far as it has come, and the secrets found in it. */
class Block {
  readonly #search: StreamSearch
  received = 0
  judged = 0
  isFinished = false
  hasFailed = false
  readonly secrets: { readonly start: number; readonly end: number; readonly rule: string; readonly secret: string }[] =
    []

  constructor(ruleset: Ruleset) {
    this.#search = new StreamSearch(ruleset)
  }

  push(text: string): void {
    this.received += text.length
    this.#take(() => this.#search.push(text))
  }

  finish(): void {
    if (this.isFinished) return
    this.isFinished = true
    this.#take(() => this.#search.finish())
    this.judged = this.received
  }

  #take(search: () => ReturnType<StreamSearch["push"]>): void {
    if (this.hasFailed) return
    try {
      const { text, secrets } = search()
      for (const { start, end, rule } of secrets) {
        this.secrets.push({ start: this.judged + start, end: this.judged + end, rule, secret: text.slice(start, end) })
      }
      this.judged += text.length
    } catch {
      this.hasFailed = true
      this.judged = Number.POSITIVE_INFINITY
    }
  }
}

function splice(text: string, parts: readonly Part[], key: Uint8Array): { text: string; masks: Mask[] } {
  const masks: Mask[] = []
  let spliced = ""
  let at = 0
  for (const { block, from, to, start, end } of [...parts].sort((a, b) => a.start - b.start)) {
    const inside = block.secrets.filter((secret) => secret.start < to && secret.end > from)
    if (inside.length === 0) continue
    const value = JSON.parse(text.slice(start, end)) as string
    spliced += `${text.slice(at, start)}"`
    let done = 0
    for (const secret of inside) {
      const begins = Math.max(0, secret.start - from)
      spliced += escaped(value.slice(done, begins))
      // The first frame the secret stands in gets its mask.
      if (secret.start >= from) {
        const masked = escaped(maskedSecret(secret.secret))
        masks.push({
          offset: spliced.length,
          length: masked.length,
          rule: secret.rule,
          tag: secretTag(key, secret.secret),
        })
        spliced += masked
      }
      done = Math.min(value.length, secret.end - from)
    }
    spliced += `${escaped(value.slice(done))}"`
    at = end
  }
  return { text: spliced + text.slice(at), masks }
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)

/** Masks what is found in a text that may hold masks already. */
function maskFurther(text: string, masks: readonly Mask[], ruleset: Ruleset): { text: string; masks: Mask[] } {
  const { secrets } = searchText(text, ruleset)
  if (secrets.length === 0) return { text, masks: [...masks] }
  const all: Mask[] = []
  const earlier = [...masks]
  let redacted = ""
  let at = 0
  const keepUpTo = (end: number): void => {
    for (let mask = earlier[0]; mask !== undefined && mask.offset < end; mask = earlier[0]) {
      if (mask.offset >= at) all.push({ ...mask, offset: mask.offset - at + redacted.length })
      earlier.shift()
    }
    redacted += text.slice(at, end)
    at = end
  }
  for (const { start, end, rule } of secrets) {
    keepUpTo(start)
    const secret = text.slice(start, end)
    const masked = maskedSecret(secret)
    all.push({ offset: redacted.length, length: masked.length, rule, tag: secretTag(ruleset.key, secret) })
    redacted += masked
    at = end
  }
  keepUpTo(text.length)
  return { text: redacted, masks: all }
}

/** The JSON of a frame: what stands behind `data:`, or the whole of a line. Data over several lines is no JSON of any provider's. */
function* jsonIn(text: string): Generator<{ at: number; json: string }> {
  const line = /^(?:data: ?)?(\{.*)$/gm
  for (let match = line.exec(text); match !== null; match = line.exec(text)) {
    const json = match[1]!
    yield { at: match.index + match[0].length - json.length, json }
  }
}

/** Behind the blank line that ends an event; -1 if there is none. */
function endOfEvent(buffer: Buffer, from: number): number {
  for (let at = buffer.indexOf(0x0a, from); at >= 0; at = buffer.indexOf(0x0a, at + 1)) {
    const next = buffer[at + 1] === 0x0d ? at + 2 : at + 1
    if (buffer[next] === 0x0a) return next + 1
  }
  return -1
}

function endOfLine(buffer: Buffer, from: number): number {
  return buffer.indexOf(0x0a, from) + 1 || -1
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
