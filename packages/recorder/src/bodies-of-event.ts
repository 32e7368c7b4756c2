import type { ArtifactRef, BodyHash } from "@orangebox/contract"
import { type CapturedBody, captureBody } from "./captured-body.js"
import type { RecordBody } from "./event-record.js"
import type { Sink } from "./sink.js"

/** Collects the bodies one event names: each becomes a hash in the payload, an entry in `artifact_refs`, and bytes for the sink. */
export class BodiesOfEvent {
  readonly refs: ArtifactRef[] = []
  readonly bodies: RecordBody[] = []
  readonly #keep: boolean

  constructor(sink: Sink) {
    this.#keep = sink.keepsBodies()
  }

  /** The ref of a value. `undefined` has none. */
  add(type: string, value: unknown): { hash: BodyHash; text: () => string } | undefined {
    if (value === undefined) return undefined
    const body = this.#put(type, captureBody(value))
    return { hash: body.hash, text: () => headOf(body.bytes) }
  }

  #put(type: string, body: CapturedBody): CapturedBody {
    this.refs.push({
      artifact_hash: body.hash,
      artifact_type: type,
      byte_size: body.bytes.length,
      content_encoding: "identity",
      mime_type: body.mimeType,
      redaction_profile: "none",
      ...(this.#keep ? {} : { absent: "not_kept" as const }),
    })
    if (this.#keep) this.bodies.push(body)
    return body
  }

  /** Text or bytes whose MIME type is known. */
  addAs(type: string, content: string | Uint8Array, mimeType: string): BodyHash {
    const { hash } = this.#put(type, { ...captureBody(content), mimeType })
    return hash
  }

  ref(type: string, value: unknown): BodyHash | undefined {
    return this.add(type, value)?.hash
  }

  /** A body whose bytes were streamed ahead of this event. One that is incomplete is marked, because its hash covers what is missing. */
  addStreamed(
    type: string,
    mimeType: string,
    stream: { id: string; hash: BodyHash; byteSize: number; complete: boolean },
  ): BodyHash {
    this.refs.push({
      artifact_hash: stream.hash,
      artifact_type: type,
      byte_size: stream.byteSize,
      content_encoding: "identity",
      mime_type: mimeType,
      redaction_profile: "none",
      ...(stream.complete ? {} : { absent: "not_kept" as const }),
    })
    if (stream.complete) this.bodies.push({ hash: stream.hash, byteSize: stream.byteSize, streamId: stream.id })
    return stream.hash
  }
}

const SUMMARY_BYTES = 2048

// Only the beginning is decoded: a summary of a 200 MB body must not cost 200 MB.
function headOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SUMMARY_BYTES)).toString("utf8")
}
