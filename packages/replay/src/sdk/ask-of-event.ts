import type { Event } from "@orangebox/contract"
import { retrieverSignature } from "@orangebox/dialects"
import type { Capture, RetrievalCall } from "@orangebox/recorder"
import type { Ask, AskedRequest } from "../match/ask.js"
import { signStored } from "../tape/sign.js"
import type { HeaderPairs } from "../tape/tape.js"

/** The question that an opening event records; undefined when the event opens no call, or one that was only deduced. */
export function askOfEvent(
  event: Event,
  bytesOf: (hash: string) => Uint8Array | undefined,
  retrieval: Ask | undefined,
): Ask | undefined {
  if (event.inferred_by !== undefined) return undefined
  switch (event.event_type) {
    case "model_called":
      return modelAsk(event, bytesOf)
    case "tool_called":
      return {
        kind: "tool",
        name: event.payload.tool_name,
        sig: event.payload.call_signature_hash,
        effect: event.payload.effect_class,
        request: requestOf(event, event.payload.args_ref, NO_ADDRESS, bytesOf),
      }
    case "step_started":
      if (event.payload.kind === "http") return httpAsk(event, bytesOf)
      return event.payload.kind === "retrieval" ? retrieval : undefined
    default:
      return undefined
  }
}

const NO_ADDRESS = { method: null, url: null, headers: null } as const

function modelAsk(event: Event<"model_called">, bytesOf: (hash: string) => Uint8Array | undefined): Ask {
  const { payload, attributes } = event
  const headers = payload.request_headers_ref === undefined ? undefined : bytesOf(payload.request_headers_ref)
  const address = { method: payload.http_method ?? null, url: payload.url ?? null, headers: pairsOf(headers) }
  return {
    kind: "model",
    name: payload.model_id ?? "?",
    sig: payload.call_signature_hash ?? "",
    wire: payload.wire_digest,
    shape: payload.shape_digest,
    stream: payload.stream,
    isAuxiliary: attributes?.["auxiliary"] === true,
    request: requestOf(event, payload.request_ref, address, bytesOf),
  }
}

/** Signed from what is kept of it, as on the tape. */
function httpAsk(event: Event<"step_started">, bytesOf: (hash: string) => Uint8Array | undefined): Ask | undefined {
  const { attributes, payload } = event
  const method = attributes?.["http_method"]
  const url = attributes?.["url"]
  if (typeof method !== "string" || typeof url !== "string") return undefined
  const ref = event.artifact_refs.find(({ artifact_hash }) => artifact_hash === payload.body_ref)
  const headers: HeaderPairs = ref ? [["content-type", ref.mime_type]] : []
  const request = requestOf(event, payload.body_ref, { method, url, headers }, bytesOf)
  if (request === undefined) return undefined
  const { sig, wire, shape } = signStored({ method, url, headers, body: request.body, masks: request.masks ?? [] })
  return {
    kind: "http",
    name: payload.name,
    sig,
    wire,
    shape,
    isAuxiliary: attributes?.["auxiliary"] === true,
    request,
  }
}

/** A retriever's question as it is recorded under a capture: secrets masked, and told apart by their tags. */
export function retrievalAsk(call: RetrievalCall, capture: Capture | undefined): Ask {
  const { retriever, query, version = null, topK = null, filters = {} } = call
  const raw = Buffer.from(query, "utf8")
  const { bytes = raw, masks } = capture?.content("retrieval_executed", "query_text_ref", raw) ?? { masks: [] }
  const comparable = capture?.comparable(query) ?? query
  return {
    kind: "retriever",
    name: retriever,
    sig: retrieverSignature({ query: comparable, index: retriever, indexVersion: version, topK, filters }),
    effect: "read",
    request: { ...NO_ADDRESS, body: bytes, masks, retrieval: { version, topK, filters } },
  }
}

function requestOf(
  event: Event,
  hash: string | undefined,
  address: Pick<AskedRequest, "method" | "url" | "headers">,
  bytesOf: (hash: string) => Uint8Array | undefined,
): AskedRequest | undefined {
  const body = hash === undefined ? new Uint8Array(0) : bytesOf(hash)
  if (body === undefined) return undefined
  const ref = event.artifact_refs.find(({ artifact_hash }) => artifact_hash === hash)
  return { body, masks: ref?.masks ?? [], maskCount: ref?.mask_count, ...address }
}

function pairsOf(bytes: Uint8Array | undefined): HeaderPairs | null {
  if (bytes === undefined) return null
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8")) as HeaderPairs
  } catch {
    return null
  }
}
