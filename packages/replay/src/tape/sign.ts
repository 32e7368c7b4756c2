import { type BodyMask, bodyHash, canonicalJsonNode } from "@orangebox/contract"
import {
  callSignature,
  detectDialect,
  dialectTold,
  GENERIC_CANON_VERSION,
  genericSignature,
  NO_PATH,
  readBody,
} from "@orangebox/dialects"
import { taggedBytes } from "@orangebox/redaction"
import type { HeaderPairs } from "./tape.js"

/** A request on the wire as it is signed. */
export interface RequestToSign {
  readonly method: string
  readonly url: string
  readonly headers: HeaderPairs
  readonly body: Uint8Array
  /** Secrets that were taken out of the body. */
  readonly masks: readonly BodyMask[]
  /** Accepted typed masks. */
  mask?(text: string): string
}

export interface Signature {
  readonly sig: string
  readonly wire: string
  readonly shape: string
  readonly canonVersion: number
}

/** Undefined where the signature cannot be worked out from what is there. */
export type Sign = (request: RequestToSign) => Signature | undefined

/**
 * Signs a request from what is stored of it, as the recorder signed it when it was made: each masked secret is compared by its tag, so that
 * different secrets that mask alike stay different.
 */
export const signStored = (request: RequestToSign): Signature =>
  signature({ ...request, body: withTags(request.body, request.masks) })

/** The same of a request that an application told of, without an address: as the recorder signs it today. */
export function signTold(
  provider: string,
  { bytes, masks, mimeType }: { readonly bytes: Uint8Array; readonly masks: readonly BodyMask[]; mimeType: string },
): Signature {
  const body = withTags(bytes, masks)
  const json = readBody(body)
  const dialect = dialectTold(provider, json)
  const signed = callSignature({ body: json, dialect, method: "POST", path: NO_PATH })
  if (dialect) return signed
  const isText = json.root === undefined || !mimeType.includes("json")
  const asked = isText ? bodyHash(body) : canonicalJsonNode(json.root!)
  return { ...signed, sig: genericSignature(provider, asked), canonVersion: GENERIC_CANON_VERSION }
}

function signature(request: RequestToSign): Signature {
  const address = addressOf(request.method, request.url)
  const json = readBody(request.body)
  const headers = Object.fromEntries(request.headers.map(([name, value]) => [name.toLowerCase(), value]))
  const contentType = headers["content-type"]
  const dialect = detectDialect({ ...address, requestBody: json })?.dialect
  return callSignature({
    ...address,
    body: json,
    dialect,
    headers,
    ...(contentType === undefined ? {} : { contentType }),
    ...(request.mask ? { mask: request.mask } : {}),
  })
}

/** The body in the form the recorder signs it in. */
export function withTags(bytes: Uint8Array, masks: readonly BodyMask[]): Uint8Array {
  return taggedBytes(
    bytes,
    [...masks].sort((a, b) => a.offset - b.offset),
  )
}

export function addressOf(method: string, url: string): { method: string; path: string; host?: string } {
  try {
    const { pathname, search, host } = new URL(url)
    return { method, path: pathname + search, host }
  } catch {
    return { method, path: url }
  }
}
