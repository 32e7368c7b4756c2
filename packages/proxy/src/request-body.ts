import { bodyHash } from "@orangebox/contract"
import type { BodyMarks, HeaderList } from "@orangebox/recorder"
import { encodingsOf, NotDecodable, openDecoder } from "./content-decoder.js"
import { headerIn } from "./forwarded-headers.js"
import type { ProxyLimits } from "./limits.js"

/** A request body as it is recorded: decoded where it can be, with its wire form told beside it. */
export interface RecordableBody {
  readonly bytes: Uint8Array
  readonly marks: BodyMarks | undefined
  readonly attributes: { readonly [name: string]: string | number } | undefined
}

/** `fullByteSize` is given when the bytes are only the first part. */
export async function recordableBody(
  wire: Uint8Array,
  headers: HeaderList,
  limits: ProxyLimits,
  fullByteSize?: number,
): Promise<RecordableBody> {
  const encodings = encodingsOf(headerIn(headers, "content-encoding"))
  const cut = fullByteSize === undefined ? {} : { fullByteSize }
  if (encodings.length === 0) {
    const attributes = fullByteSize === undefined ? undefined : { request_cut_at: wire.length }
    return { bytes: wire, marks: fullByteSize === undefined ? undefined : cut, attributes }
  }
  const contentEncoding = encodings.join(", ")
  const attributes = {
    request_wire_encoding: contentEncoding,
    request_wire_bytes: fullByteSize ?? wire.length,
    ...(fullByteSize === undefined ? { request_wire_digest: bodyHash(wire) } : { request_cut_at: wire.length }),
  }
  try {
    // A part of a compressed body is kept as it came: what it would have unpacked to in the end is not known.
    if (fullByteSize !== undefined) throw new NotDecodable("is larger than the limit")
    return { bytes: await decoded(wire, encodings, limits), marks: undefined, attributes }
  } catch (error) {
    return {
      bytes: wire,
      marks: { contentEncoding, ...cut },
      attributes: { ...attributes, request_not_decoded: (error as Error).message },
    }
  }
}

async function decoded(wire: Uint8Array, encodings: readonly string[], limits: ProxyLimits): Promise<Uint8Array> {
  const decoder = openDecoder(encodings, { ...limits, maxBytes: limits.requestBytes })
  try {
    const pieces = [...(await decoder.push(wire))]
    pieces.push(...(await decoder.finish()))
    return Buffer.concat(pieces)
  } finally {
    decoder.close()
  }
}
