import type { PayloadOf } from "@orangebox/contract"
import {
  type CallSignature,
  callSignature,
  type Dialect,
  NO_PATH,
  providerAccesses,
  type RequestAnatomy,
} from "@orangebox/dialects"
import type { BodiesOfEvent } from "../bodies-of-event.js"
import type { Capture } from "../capture/capture.js"
import { countOrNull, nameOrNull } from "./contract-values.js"
import { addressOf, type KnownRequest } from "./known-request.js"
import { type HeaderList, headerOf, safeHeaders, safeUrl } from "./safe-headers.js"
import type { WireRequest } from "./wire-call.js"

type ModelCalled = PayloadOf<"model_called">

/** What every model call says about its request, however it came to be recorded. */
function stampsOf({ anatomy }: KnownRequest, signature: CallSignature) {
  return {
    temperature: anatomy?.sampling.temperature ?? null,
    top_p: anatomy?.sampling.topP ?? null,
    max_tokens: countOrNull(anatomy?.sampling.maxTokens),
    seed: anatomy?.sampling.seed ?? null,
    stream: anatomy?.stream ?? false,
    call_signature_hash: signature.sig,
    wire_digest: signature.wire,
    shape_digest: signature.shape,
    canon_version: signature.canonVersion,
    prefix_fingerprint: anatomy?.prefix.fingerprint ?? null,
    prefix_length: anatomy?.prefix.length ?? null,
    cache_use: anatomy?.cacheUse ?? "unknown",
  } satisfies Partial<ModelCalled>
}

/** `model_called` of a request as it goes out, with everything that can be stamped at capture, and its bodies. */
export function modelCalledOf(
  request: WireRequest,
  known: KnownRequest,
  requestRef: string,
  capture: Capture,
  bodies: BodiesOfEvent,
): ModelCalled {
  const { dialect } = known
  const contentType = headerOf(request.headers, "content-type")
  const signature = callSignature({
    body: known.json,
    dialect,
    headers: Object.fromEntries(request.headers.map(([name, value]) => [name.toLowerCase(), value])),
    ...addressOf(request),
    ...(contentType === undefined ? {} : { contentType }),
  })
  return {
    provider: providerOf(request, dialect),
    model_id: nameOrNull(known.model),
    model_api_version: nameOrNull(versionOf(request.headers), 256),
    request_ref: requestRef,
    capture_mode: capture.mode,
    http_method: request.method.slice(0, 32),
    url: safeUrl(request.url, (text) => capture.searched(text)).slice(0, LONGEST_URL),
    request_headers_ref: bodies.refAs(
      "request_headers",
      JSON.stringify(safeHeaders(request.headers)),
      "application/json",
    ),
    ...stampsOf(known, signature),
  }
}

const LONGEST_URL = 8192

/**
 * The same of a request that an application told of. Its signature is the one the wire gives the same body, unless the address there names
 * the model. Undefined where nobody here knows the protocol.
 */
export function toldStamps(known: KnownRequest): ReturnType<typeof stampsOf> | undefined {
  const { asked, json } = known
  if (asked === undefined) return undefined
  try {
    return stampsOf(known, callSignature({ body: json, dialect: asked, method: "POST", path: NO_PATH }))
  } catch {
    return undefined
  }
}

/** What the prompt was made of, derived from the request. */
export function promptAssembledOf(anatomy: RequestAnatomy): PayloadOf<"prompt_assembled"> {
  return {
    segments: anatomy.segments.map(({ segment }) => ({
      ...segment,
      contributor: nameOrNull(segment.contributor) ?? "unknown",
      role: segment.role?.slice(0, 64) ?? null,
    })),
    total_length: anatomy.totalLength,
  }
}

/** Whether two requests are made of the same pieces. */
export function isSamePrompt(a: RequestAnatomy, b: RequestAnatomy): boolean {
  if (a.segments.length !== b.segments.length) return false
  return a.segments.every(({ segment }, at) => {
    const other = b.segments[at]!.segment
    return segment.segment_hash === other.segment_hash && segment.role === other.role
  })
}

/** A call that leans on context the provider keeps cannot be told from its request alone. */
export function heldByProvider({ anatomy }: KnownRequest): { context_held_by_provider: string } | undefined {
  const held = anatomy?.serverContext ?? []
  return held.length === 0
    ? undefined
    : { context_held_by_provider: [...new Set(held.map(({ what }) => what))].join(" ") }
}

function providerOf(request: WireRequest, dialect: Dialect | undefined): string {
  return dialect?.provider ?? nameOrNull(addressOf(request).host) ?? "unknown"
}

/** The version of the API, by whichever header names it: a gateway may ask for another provider's. */
function versionOf(headers: HeaderList): string | undefined {
  for (const { versionHeader } of providerAccesses()) {
    const version = versionHeader === null ? undefined : headerOf(headers, versionHeader)
    if (version !== undefined) return version
  }
  return undefined
}
