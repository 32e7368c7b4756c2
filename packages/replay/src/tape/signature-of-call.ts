import { retrieverSignature, toolSignatureOfText } from "@orangebox/dialects"
import { type Sign, signStored, signTold, withTags } from "./sign.js"
import { readStored } from "./stored-body.js"
import type { Bodies, RecordedRequest, StoredBody, TapeCall } from "./tape.js"

/**
 * The signature of a recorded call, worked out from what is stored of its question; undefined where that is not enough. A signature of a tool
 * may come from a protocol that knows better than its arguments, so there only one that is as it was stamped says something.
 */
export function signedAgain(call: TapeCall, bodies: Bodies): string | undefined {
  switch (call.kind) {
    case "tool": {
      const args = wholeBytes(call.request.body, bodies)
      const sig = args && toolSignatureOfText(call.name, textOf(args, call.request.body))
      return sig === call.sig ? sig : undefined
    }
    case "retriever":
      return signatureOfRetrieval(call, bodies) ?? undefined
    default:
      if (call.request.url !== null) return signatureOfRequest(call.request, bodies, signStored)?.sig
      return signatureOfTold(call, bodies)?.sig
  }
}

/** Of a request that an application told of without an address. */
export function signatureOfTold(
  { provider, request: { body } }: Pick<TapeCall, "provider" | "request">,
  bodies: Bodies,
): ReturnType<Sign> {
  const bytes = wholeBytes(body, bodies)
  if (!provider || body === null || bytes === undefined) return undefined
  return signTold(provider, { bytes, masks: body.masks, mimeType: body.mimeType })
}

export function signatureOfRetrieval(
  { name, request: { body, retrieval } }: Pick<TapeCall, "name" | "request">,
  bodies: Bodies,
): string | null {
  const bytes = wholeBytes(body, bodies)
  if (bytes === undefined || retrieval === null) return null
  const { version, topK, filters } = retrieval
  return retrieverSignature({ query: textOf(bytes, body), index: name, indexVersion: version, topK, filters })
}

/** The signature of a recorded request, from the bytes that are stored. */
export function signatureOfRequest(
  request: RecordedRequest,
  bodies: Bodies,
  sign: Sign,
  mask?: (text: string) => string,
): ReturnType<Sign> {
  const { body, method, url } = request
  const bytes = body === null ? new Uint8Array(0) : wholeBytes(body, bodies)
  if (method === null || url === null || bytes === undefined) return undefined
  return sign({
    method,
    url,
    headers: request.headers ?? [],
    body: bytes,
    masks: body?.masks ?? [],
    ...(mask ? { mask } : {}),
  })
}

/** Undefined where some of them are not there, or nothing tells the secrets in them apart. */
function wholeBytes(body: StoredBody | null, bodies: Bodies): Uint8Array | undefined {
  if (body === null || body.isCut || body.maskCount > body.masks.length) return undefined
  const reading = readStored(body, bodies)
  return reading.ok ? reading.bytes : undefined
}

const textOf = (bytes: Uint8Array, body: StoredBody | null): string =>
  Buffer.from(withTags(bytes, body?.masks ?? [])).toString("utf8")
