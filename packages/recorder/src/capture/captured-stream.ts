import { type ArtifactRef, type BodyHash, bodyHash, type RedactionStatus } from "@orangebox/contract"
import { textDeltas } from "@orangebox/dialects"
import {
  type Arrival,
  BinaryEventRedactor,
  ByteStreamRedactor,
  FrameRedactor,
  type Framing,
  incrementalKeyedDigest,
  type Mask,
  type Piece,
  type Ruleset,
} from "@orangebox/redaction"
import type { BodyStream } from "../sink.js"
import type { Capture } from "./capture.js"
import { worse } from "./redaction-status.js"

/** A body that arrives in pieces, on its way through the capture mode to the journal. */
export interface CapturedStream {
  write(bytes: Uint8Array, atMicros: number): void
  finish(): StoredStream
}

/** What there is of it in the end. */
export interface StoredStream {
  /** Undefined when no bytes were written. */
  readonly id: string | undefined
  readonly hash: BodyHash
  readonly byteSize: number
  readonly complete: boolean
  readonly masks: readonly Mask[]
  readonly status: RedactionStatus
  readonly profile: string
  readonly absent?: NonNullable<ArtifactRef["absent"]>
  /** Those of an answer that came as a whole: they were not written ahead, and go with the event that names them. */
  readonly bytes?: Uint8Array
  /** When which byte came: offsets in the stored body. */
  readonly index: readonly (readonly [offset: number, micros: number])[]
}

export interface StreamOptions {
  readonly eventType: string
  readonly field: string
  readonly mimeType: string | undefined
  /** The bytes could not be decoded. */
  readonly isEncoded: boolean
}

/** @param open is called when the first byte is written */
export function captureStream(capture: Capture, options: StreamOptions, open: () => BodyStream): CapturedStream {
  if (capture.mode === "full") return new WrittenStream(passing, "none", open)
  const { policy, ruleset } = capture.treatmentOf(options.eventType, options.field)
  if (capture.mode === "hashed" || policy === "hash_only") return new DigestedStream(capture.key, "hashed", "redacted")
  if (policy === "drop") return new DigestedStream(capture.key, "not_kept", "redacted")
  if (options.isEncoded) return new DigestedStream(capture.key, "not_kept", "blocked")
  if (ruleset === undefined) return new WrittenStream(passing, "none", open)
  const redactor = (first: Uint8Array): PieceMaker => {
    if (isBinaryEvents(options.mimeType)) return new BinaryEventRedactor(ruleset, textDeltas)
    const framing = framingOf(options.mimeType, first)
    if (framing === undefined && capture.hasKeyRules && isJson(options.mimeType)) return new WholeBody(capture, ruleset)
    return framing === undefined ? new ByteStreamRedactor(ruleset) : new FrameRedactor(ruleset, framing, textDeltas)
  }
  return new WrittenStream(redactor, ruleset.profile, open)
}

/** For what is not written ahead, because all of it is there already. */
export function gatheredStream(): BodyStream {
  const pieces: Uint8Array[] = []
  return {
    id: "",
    write(bytes) {
      pieces.push(bytes)
      return true
    },
    finish() {
      const bytes = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
      return { hash: bodyHash(bytes), byteSize: bytes.length, complete: true, bytes }
    },
  }
}

/** Gives each piece back as it may be stored, at once or later. */
interface PieceMaker {
  push(bytes: Uint8Array, arrival: Arrival): readonly Piece[]
  /** How many bytes wait to be judged. */
  readonly heldBytes: number
  finish(arrival: Arrival): readonly Piece[]
}

const passing = (): PieceMaker => ({
  heldBytes: 0,
  push: (bytes, arrival) => [{ bytes, masks: [], arrival }],
  finish: () => [],
})

/** Written without a hyphen, these are messages with lengths and checksums, not lines. */
const isBinaryEvents = (mimeType: string | undefined): boolean =>
  mimeType !== undefined && /[./]eventstream\b/i.test(mimeType)

const isJson = (mimeType: string | undefined): boolean => mimeType !== undefined && /[/+]json\b/i.test(mimeType)

/**
 * The user's rules about keys need the whole of a JSON body, so it is held until it has all come. Larger ones than can be held are searched
 * as they come, and the rules about keys do not apply to them.
 */
class WholeBody implements PieceMaker {
  readonly #capture: Capture
  readonly #ruleset: Ruleset
  #held: Uint8Array[] = []
  #bytes = 0
  #asItComes: ByteStreamRedactor | undefined

  constructor(capture: Capture, ruleset: Ruleset) {
    this.#capture = capture
    this.#ruleset = ruleset
  }

  push(bytes: Uint8Array, arrival: Arrival): readonly Piece[] {
    if (this.#asItComes) return this.#asItComes.push(bytes, arrival)
    this.#held.push(Uint8Array.from(bytes))
    this.#bytes += bytes.length
    if (this.#bytes <= LONGEST_HELD) return []
    this.#asItComes = new ByteStreamRedactor(this.#ruleset)
    const held = Buffer.concat(this.#held)
    this.#held = []
    return this.#asItComes.push(held, arrival)
  }

  get heldBytes(): number {
    return this.#asItComes?.heldBytes ?? this.#bytes
  }

  finish(arrival: Arrival): readonly Piece[] {
    if (this.#asItComes) return this.#asItComes.finish(arrival)
    const { bytes, masks, failed } = this.#capture.redact(Buffer.concat(this.#held), this.#ruleset)
    return bytes.length === 0 ? [] : [{ bytes, masks, arrival, ...(failed === undefined ? {} : { failed: true }) }]
  }
}

const LONGEST_HELD = 8 * 1024 * 1024

/** Not every server says what it sends, so the first bytes are asked too. */
function framingOf(mimeType: string | undefined, first: Uint8Array): Framing | undefined {
  if (mimeType !== undefined && /event-stream/i.test(mimeType)) return "sse"
  if (mimeType !== undefined && /ndjson|jsonl|json-?seq|json-?lines/i.test(mimeType)) return "lines"
  const beginning = Buffer.from(first.subarray(0, 4096)).toString("latin1")
  if (/^(?:event|data|id|retry)?:/.test(beginning)) return "sse"
  // A letter that says what the line carries, or a second object behind the first.
  if (/^[0-9a-z]:["{[]|^\s*\{.*\}\r?\n\s*\{/.test(beginning)) return "lines"
  return /^\s*\[\s*(?:\{|$)/.test(beginning) ? "array" : undefined
}

const NO_BYTES = new Uint8Array(0)
const ENOUGH_TO_TELL = 16

class WrittenStream implements CapturedStream {
  readonly #makerFor: (first: Uint8Array) => PieceMaker
  readonly #profile: string
  readonly #open: () => BodyStream
  #maker: PieceMaker | undefined
  #first: Uint8Array = NO_BYTES
  #stream: BodyStream | undefined
  #status: RedactionStatus = "not_required"
  #bytes = 0
  #lastArrival: Arrival = { atMicros: 0 }
  #indexed: Arrival | undefined
  readonly #masks: Mask[] = []
  readonly #index: [number, number][] = []

  constructor(makerFor: (first: Uint8Array) => PieceMaker, profile: string, open: () => BodyStream) {
    this.#makerFor = makerFor
    this.#profile = profile
    this.#open = open
  }

  write(bytes: Uint8Array, atMicros: number): void {
    this.#lastArrival = { atMicros }
    // Opened with the first byte, not with the first that may be stored: a reader sees that an answer has begun.
    this.#stream ??= this.#open()
    this.#push(bytes, false)
  }

  finish(): StoredStream {
    this.#push(NO_BYTES, true)
    this.#storeAll(this.#maker?.finish(this.#lastArrival) ?? [], 0)
    this.#stream ??= this.#open()
    return {
      id: this.#stream.id,
      ...this.#stream.finish(),
      masks: this.#masks,
      status: this.#status,
      profile: this.#profile,
      index: this.#index,
    }
  }

  /** The first bytes tell how a body has to be read; a few of them may be too few. */
  #push(bytes: Uint8Array, isEnd: boolean): void {
    const first = this.#first.length === 0 ? bytes : Buffer.concat([this.#first, bytes])
    if (this.#maker === undefined && !isEnd && first.length < ENOUGH_TO_TELL) {
      this.#first = Uint8Array.from(first)
      this.#storeAll([], first.length)
      return
    }
    this.#maker ??= this.#makerFor(first)
    this.#first = NO_BYTES
    const pieces = this.#maker.push(first, this.#lastArrival)
    this.#storeAll(pieces, isEnd ? 0 : this.#maker.heldBytes)
  }

  /** A process that is killed now leaves what is written; the last line says how much had come that is not. */
  #storeAll(pieces: readonly Piece[], heldBytes: number): void {
    pieces.forEach((piece, at) => {
      this.#store(piece, at === pieces.length - 1 ? heldBytes : 0)
    })
    if (pieces.length === 0 && heldBytes > 0) this.#stream?.write(NO_BYTES, heldBytes)
  }

  #store({ bytes, masks, arrival, failed }: Piece, heldBytes: number): void {
    if (failed) this.#status = worse(this.#status, "failed")
    if (masks.length > 0) this.#status = worse(this.#status, "redacted")
    for (const mask of masks) this.#masks.push({ ...mask, offset: mask.offset + this.#bytes })
    // Frames that came together are one read.
    if (this.#indexed !== arrival) this.#index.push([this.#bytes, arrival.atMicros])
    this.#indexed = arrival
    this.#bytes += bytes.length
    this.#stream?.write(bytes, heldBytes)
  }
}

class DigestedStream implements CapturedStream {
  readonly #hash: ReturnType<typeof incrementalKeyedDigest>
  readonly #absent: "hashed" | "not_kept"
  readonly #status: RedactionStatus
  #bytes = 0
  readonly #index: [number, number][] = []

  constructor(key: Uint8Array, absent: "hashed" | "not_kept", status: RedactionStatus) {
    this.#hash = incrementalKeyedDigest(key)
    this.#absent = absent
    this.#status = status
  }

  write(bytes: Uint8Array, atMicros: number): void {
    this.#hash.update(bytes)
    this.#index.push([this.#bytes, atMicros])
    this.#bytes += bytes.length
  }

  finish(): StoredStream {
    return {
      id: undefined,
      hash: this.#hash.digest(),
      byteSize: this.#bytes,
      complete: true,
      masks: [],
      status: this.#status,
      profile: "hashed",
      absent: this.#absent,
      index: this.#index,
    }
  }
}
