import type { ArtifactRef, BodyHash, EventType, RedactionStatus } from "@orangebox/contract"
import { type Capture, type CapturedContent, comparableBytes, listedMasks } from "./capture/capture.js"
import type { StoredStream } from "./capture/captured-stream.js"
import { worse } from "./capture/redaction-status.js"
import { bytesOf, type GivenBody, markCaptured } from "./captured-body.js"
import type { RecordBody } from "./event-record.js"
import type { Sink } from "./sink.js"

/** What a body's ref says when the stored bytes are not simply all of them, decoded. */
export interface BodyMarks {
  /** Only the first part was kept; so many bytes there were. */
  readonly fullByteSize?: number
  /** The bytes could not be decoded, and are kept as they came where they may be. */
  readonly contentEncoding?: string
}

/** A body that was added to an event. */
export interface AddedBody {
  readonly hash: BodyHash
  /** Its beginning, as it is stored; empty where it is not. */
  text(): string
  /** The value as it is stored: the one that was given, unless something had to be taken out of it. Undefined where nothing is kept. */
  value(): unknown
  /** Its bytes as they are stored; undefined where they are not. */
  stored(): Uint8Array | undefined
  /** Its bytes as they were given. */
  readonly given: Uint8Array
  /** Whether the stored bytes, and so the hash, are those of the value as it was given. */
  readonly isAsGiven: boolean
  /** Whether the bytes a signature is taken of are those of the value as it was given. */
  readonly isComparedAsGiven: boolean
  /** The bytes a signature is taken of, and the value in them. */
  comparable(): Uint8Array
  comparableValue(): unknown
}

/** Collects the bodies one event names: each becomes a hash in the payload, an entry in `artifact_refs`, and bytes for the sink. */
export class BodiesOfEvent {
  readonly refs: ArtifactRef[] = []
  readonly bodies: RecordBody[] = []
  redaction: RedactionStatus = "not_required"
  readonly #capture: Capture
  readonly #type: EventType
  readonly #keep: boolean

  constructor(builder: { readonly sink: Sink; readonly capture: Capture }, type: EventType) {
    this.#capture = builder.capture
    this.#type = type
    this.#keep = builder.sink.keepsBodies()
  }

  /** A value. `undefined` is no body. */
  add(type: string, value: unknown): AddedBody | undefined {
    if (value === undefined) return undefined
    const given = bytesOf(value)
    return this.#added(value, given, this.#put(type, given, {}))
  }

  ref(type: string, value: unknown): BodyHash | undefined {
    return this.add(type, value)?.hash
  }

  /** Text or bytes whose MIME type is known. */
  addAs(type: string, content: string | Uint8Array, mimeType: string, marks: BodyMarks = {}): AddedBody {
    const given = { bytes: bytesOf(content).bytes, mimeType }
    return this.#added(content, given, this.#put(type, given, marks))
  }

  refAs(type: string, content: string | Uint8Array, mimeType: string): BodyHash {
    return this.addAs(type, content, mimeType).hash
  }

  /**
   * A body whose bytes came as a stream: ahead of this event, or all at once with it. One that is incomplete is marked, because its hash
   * covers what is missing.
   */
  addStreamed(type: string, mimeType: string, stream: StoredStream, marks: BodyMarks = {}): BodyHash {
    const isKept = stream.complete && (stream.bytes === undefined || this.#keep)
    const absent = stream.absent ?? (isKept ? undefined : "not_kept")
    this.#refer(type, mimeType, stream, absent, marks)
    if (absent === undefined && stream.bytes !== undefined) {
      this.bodies.push(markCaptured({ hash: stream.hash, bytes: stream.bytes }))
    } else if (absent === undefined && stream.id !== undefined) {
      this.bodies.push(markCaptured({ hash: stream.hash, byteSize: stream.byteSize, streamId: stream.id }))
    }
    return stream.hash
  }

  /** What an event takes along for its bodies. */
  extras(): { refs: ArtifactRef[]; bodies: RecordBody[]; redaction: RedactionStatus } {
    return { refs: this.refs, bodies: this.bodies, redaction: this.redaction }
  }

  #put(type: string, { bytes, mimeType }: GivenBody, marks: BodyMarks): CapturedContent {
    const isEncoded = marks.contentEncoding !== undefined
    const content = this.#capture.content(this.#type, fieldOf(this.#type, type), bytes, isEncoded)
    this.#refer(type, mimeType, content, content.absent ?? (this.#keep ? undefined : "not_kept"), marks)
    if (this.#keep && content.bytes !== undefined)
      this.bodies.push(markCaptured({ hash: content.hash, bytes: content.bytes }))
    return content
  }

  #refer(
    type: string,
    mimeType: string,
    content: Pick<CapturedContent, "hash" | "byteSize" | "masks" | "status" | "profile">,
    absent: ArtifactRef["absent"],
    marks: BodyMarks,
  ): void {
    this.redaction = worse(this.redaction, content.status)
    this.refs.push({
      artifact_hash: content.hash,
      artifact_type: type,
      byte_size: content.byteSize,
      content_encoding: marks.contentEncoding?.slice(0, 64) ?? "identity",
      mime_type: mimeType,
      redaction_profile: content.profile,
      ...(absent === undefined ? {} : { absent }),
      ...(marks.fullByteSize === undefined ? {} : { full_byte_size: marks.fullByteSize }),
      ...listedMasks(content.masks),
    })
  }

  #added(value: unknown, given: GivenBody, content: CapturedContent): AddedBody {
    const stored = content.bytes
    // Where nothing is kept of this one body its keyed digest stands for it; under `hashed` every signature is keyed as a whole.
    const isHashed = this.#capture.mode === "hashed"
    const comparable = (): Uint8Array =>
      comparableBytes(content) ?? (isHashed ? given.bytes : Buffer.from(content.hash))
    return {
      hash: content.hash,
      text: () => (stored ? headOf(stored) : ""),
      value: () => (stored === undefined ? undefined : stored === given.bytes ? value : valueIn(stored)),
      stored: () => stored,
      given: given.bytes,
      isAsGiven: stored === given.bytes,
      isComparedAsGiven: stored === given.bytes || isHashed,
      comparable,
      comparableValue: () => (isHashed ? value : valueIn(comparable())),
    }
  }
}

/** The payload field whose policy is that of the body. */
function fieldOf(eventType: EventType, artifactType: string): string {
  if (eventType === "artifact_recorded") return "content_ref"
  if (artifactType === "segment") return "segments"
  return artifactType === "chunk" ? "candidate_list_ref" : `${artifactType}_ref`
}

const SUMMARY_BYTES = 2048

// Only the beginning is decoded: a summary of a 200 MB body must not cost 200 MB.
function headOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SUMMARY_BYTES)).toString("utf8")
}

function valueIn(bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes).toString("utf8")
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
