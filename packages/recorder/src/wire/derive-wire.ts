import { type ArtifactRef, type PayloadOf, summarizeText } from "@orangebox/contract"
import { callSignature, type FoldedResponse, foldResponse, NO_PATH } from "@orangebox/dialects"
import { taggedBytes } from "@orangebox/redaction"
import { answerStamps } from "./answer-stamps.js"
import { promptAssembledOf, requestStamps } from "./call-stamps.js"
import { nameOrNull } from "./contract-values.js"
import { addressOf, knowRequest, knowTold } from "./known-request.js"

/** A model call as it is stored: what was said of it, and its bytes. */
export interface StoredCall {
  readonly called: PayloadOf<"model_called">
  readonly request: StoredBody
  readonly response: StoredBody | undefined
}

interface StoredBody {
  readonly bytes: Uint8Array
  readonly ref: ArtifactRef | undefined
}

/**
 * What the edges of this package would have said of a call, read off its stored bytes: for one that a recorder without knowledge of protocols has
 * written. Undefined where no dialect knows the protocol, and so where nothing is to be added. Digests are taken, as at capture, of the form in
 * which secrets are replaced by their tags.
 */
export function deriveWire({ called, request, response }: StoredCall): PayloadOf<"wire_derived"> | undefined {
  const body = taggedBytes(request.bytes, request.ref?.masks ?? [])
  const { url, http_method: method = "POST" } = called
  const told = { provider: called.provider, model: called.model_id }
  const sent = url === undefined ? undefined : { method, url, headers: [], body }
  const known = sent === undefined ? knowTold(body, told) : knowRequest(sent)
  if (known.asked === undefined || known.anatomy === undefined) return undefined
  const address = sent === undefined ? { method: "POST", path: NO_PATH } : addressOf(sent)
  const signature = callSignature({ body: known.json, dialect: known.asked, ...address })
  const folded = response === undefined || known.dialect === undefined ? undefined : foldedOf(known.dialect, response)
  const { usage_ref: _, ...answer } = answerStamps(folded, NO_BODIES, summarizeText)
  const error = folded?.error
  const { segments, total_length } = promptAssembledOf(known.anatomy)
  return {
    provider: known.dialect?.provider ?? called.provider,
    model_id: nameOrNull(folded?.model ?? known.model),
    ...requestStamps(known, { signature, headers: {}, cacheUse: undefined }),
    segments,
    total_length,
    ...answer,
    ...(error
      ? {
          error_class: nameOrNull(error.type) ?? nameOrNull(error.code) ?? "error",
          error_summary: summarizeText(error.message ?? ""),
        }
      : {}),
  }
}

/** The provider's usage object stands in the stored answer itself. */
const NO_BODIES = { refAs: () => "sha256:" as const }

function foldedOf(dialect: Parameters<typeof foldResponse>[0], { bytes }: StoredBody): FoldedResponse | undefined {
  try {
    return foldResponse(dialect, bytes)
  } catch {
    return undefined
  }
}
