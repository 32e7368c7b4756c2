import { SERIALISED_BODY } from "@orangebox/contract"
import {
  callSignature,
  type Dialect,
  dialectByShape,
  type RequestAnatomy,
  type RequestMemory,
  readBody,
  readRequest,
} from "@orangebox/dialects"
import type { ForeignBody } from "@orangebox/recorder"
import { countOf } from "./told-values.js"

/** A whole request that a client wrote down as JSON: everything can be read off it that is read off the wire, but for its bytes. */
export interface SerialisedRequest {
  readonly dialect: Dialect
  readonly anatomy: RequestAnatomy
  /** Of `model_called`. */
  readonly payload: object
  /** Of `prompt_assembled`. */
  readonly assembled: object
  readonly body: ForeignBody
}

/** Undefined for what is no request of a known dialect. */
export function readSerialised(request: Uint8Array, memory: RequestMemory): SerialisedRequest | undefined {
  const json = readBody(request, memory)
  const dialect = dialectByShape(json, null)
  const anatomy = dialect && readRequest(dialect, json)
  if (dialect === undefined || anatomy === undefined) return undefined
  const { sig, wire, shape, canonVersion } = callSignature({
    body: json,
    dialect,
    headers: {},
    method: "POST",
    path: "",
  })
  const { temperature, topP, maxTokens } = anatomy.sampling
  return {
    dialect,
    anatomy,
    payload: {
      ...{ temperature, top_p: topP, max_tokens: countOf(maxTokens) },
      stream: anatomy.stream,
      ...{ call_signature_hash: sig, wire_digest: wire, shape_digest: shape, canon_version: canonVersion },
      ...{ prefix_fingerprint: anatomy.prefix.fingerprint, prefix_length: anatomy.prefix.length },
    },
    assembled: { segments: anatomy.detailed(), total_length: anatomy.totalLength },
    body: { field: "request", content: request, mimeType: SERIALISED_BODY },
  }
}
