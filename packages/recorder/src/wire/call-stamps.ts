import type { PayloadOf, Segment } from "@orangebox/contract"
import {
  accountForRequest,
  type CallSignature,
  cacheKeyOf,
  cacheParamsDigest,
  callSignature,
  credentialsOf,
  type Dialect,
  type ExpectedPrompt,
  NO_PATH,
  providerAccesses,
  type RequestAnatomy,
  readBody,
  readRequest,
} from "@orangebox/dialects"
import type { BodiesOfEvent } from "../bodies-of-event.js"
import type { Capture } from "../capture/capture.js"
import { countOrNull, nameOrNull } from "./contract-values.js"
import { addressOf, type KnownRequest } from "./known-request.js"
import { type HeaderList, headerOf, type SafeUrl, safeHeaders, safeUrl } from "./safe-headers.js"
import type { WireRequest } from "./wire-call.js"

type ModelCalled = PayloadOf<"model_called">

type CacheUse = NonNullable<ModelCalled["cache_use"]>

/** What is known of a request beside its body. */
interface Around {
  readonly signature: CallSignature
  /** By name, in lower case; none where an application tells of the request. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly path: string
  /** What the caller says the call is for. */
  readonly cacheUse: CacheUse | undefined
}

/** What can be read off any request, now or later. */
export function requestStamps(
  { anatomy, asked }: KnownRequest,
  { signature, headers, cacheUse }: Omit<Around, "path">,
) {
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
    cache_use: cacheUse ?? anatomy?.cacheUse ?? "unknown",
    cache_params_digest: asked && anatomy && cacheParamsDigest(asked, anatomy, headers),
  } satisfies Partial<ModelCalled>
}

/** What every model call says about its request, however it came to be recorded. */
function stampsOf(known: KnownRequest, capture: Capture, around: Around) {
  const { anatomy, asked } = known
  const cacheKey = asked && anatomy ? cacheKeyOf(asked, anatomy) : null
  const credentials = credentialsOf(around.headers, around.path)
  return {
    ...requestStamps(known, around),
    cache_key_tag: cacheKey === null ? undefined : capture.digestWord(`cache-key\0${cacheKey}`),
    account_tag: credentials === null ? undefined : capture.digestWord(`account\0${credentials}`),
  } satisfies Partial<ModelCalled>
}

/** `model_called` of a request as it goes out, with everything that can be stamped at capture, and its bodies. */
export function modelCalledOf(
  request: WireRequest,
  { url }: SafeUrl,
  known: KnownRequest,
  requestRef: string,
  capture: Capture,
  bodies: BodiesOfEvent,
  cacheUse: CacheUse | undefined,
): ModelCalled {
  const { dialect } = known
  const headers = Object.fromEntries(request.headers.map(([name, value]) => [name.toLowerCase(), value]))
  const address = addressOf(request)
  const contentType = headers["content-type"]
  const signature = callSignature({
    body: known.json,
    dialect,
    headers,
    ...address,
    ...(contentType === undefined ? {} : { contentType }),
  })
  return {
    provider: providerOf(request, dialect),
    model_id: nameOrNull(known.model),
    model_api_version: nameOrNull(versionOf(request.headers), 256),
    request_ref: requestRef,
    capture_mode: capture.mode,
    http_method: request.method.slice(0, 32),
    url: url.slice(0, LONGEST_URL),
    request_headers_ref: bodies.refAs(
      "request_headers",
      JSON.stringify(safeHeaders(request.headers)),
      "application/json",
    ),
    ...stampsOf(known, capture, { signature, headers, path: address.path, cacheUse }),
  }
}

const LONGEST_URL = 8192

/** The address of a request as it is kept. */
export const storedUrl = ({ url }: WireRequest, capture: Capture): SafeUrl =>
  safeUrl(url, (text) => capture.searched(text))

/** Keyed digests of what is masked in an address, place by place: two secrets may mask alike. None where nothing is. */
export function urlTags({ masked }: SafeUrl, capture: Capture): { readonly url_tags?: string } {
  if (masked.length === 0) return {}
  const tags = masked.map(({ place, text }) => `${place}=${capture.digestWord(`url\0${text}`)}`)
  return { url_tags: tags.join(" ") }
}

/**
 * The same of a request that an application told of. Its signature is the one the wire gives the same body, unless the address there names
 * the model. Undefined where no dialect knows the protocol.
 */
export function toldStamps(
  known: KnownRequest,
  capture: Capture,
  cacheUse: CacheUse | undefined,
): ReturnType<typeof stampsOf> | undefined {
  const { asked, json } = known
  if (asked === undefined) return undefined
  try {
    const signature = callSignature({ body: json, dialect: asked, method: "POST", path: NO_PATH })
    return stampsOf(known, capture, { signature, headers: {}, path: NO_PATH, cacheUse })
  } catch {
    return undefined
  }
}

/** Where the prompt that was compiled for a call stands in its request; a request that cannot be read has no account. */
export function promptAccount(
  { json, anatomy, asked }: KnownRequest,
  expected: ExpectedPrompt,
): ModelCalled["prompt_account"] {
  try {
    const own = "texts" in expected ? expected.request : undefined
    const told = own && asked && readRequest(asked, readBody(own), NO_PATH)
    const { prompt, delivery, beside, missingItems } = accountForRequest(json, anatomy, expected, told)
    const missing = missingItems === undefined ? {} : { missing_items: [...missingItems] }
    return { prompt, delivery, ...missing, beside: [...beside] }
  } catch {
    return undefined
  }
}

/** What the prompt was made of, derived from the request. */
export function promptAssembledOf(anatomy: RequestAnatomy): PayloadOf<"prompt_assembled"> {
  return {
    segments: anatomy.detailed() as Segment[],
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
