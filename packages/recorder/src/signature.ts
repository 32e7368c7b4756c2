import { types } from "node:util"
import { type BodyHash, bodyHash, canonicalJson } from "@orangebox/contract"
import { genericSignature, retrieverSignature, toolSignature, toolSignatureOfText } from "@orangebox/dialects"
import type { AddedBody } from "./bodies-of-event.js"
import { isSafeToStringify, safeStringify } from "./safe-stringify.js"
import type { RetrievalCall, ToolCall } from "./step.js"

/**
 * What a model was asked, as the application tells it: equal calls have equal signatures whatever their key order. A question that is
 * already text or bytes is known by the hash of its body.
 */
export function modelSignature(provider: unknown, question: unknown, body: AddedBody): string {
  const isOpaque = typeof question === "string" || types.isUint8Array(question)
  const asked = isOpaque
    ? opaqueDigest(body)
    : canonicalOr(comparableValue(question, body), canonicalJson, safeStringify)
  return genericSignature(nameOf(provider), asked)
}

/** The signature the dialects give the same call when they see it in a model's answer, so that recordings of either kind match. */
export function signatureOfTool(call: Pick<ToolCall, "name" | "args">, body: AddedBody): string {
  const name = nameOf(call.name)
  if (types.isUint8Array(call.args)) return toolSignature(name, { bytes: opaqueDigest(body) })
  return canonicalOr(
    comparableValue(call.args, body),
    (args) => toolSignature(name, args),
    (args) => toolSignatureOfText(name, safeStringify(args)),
  )
}

export function signatureOfRetrieval(call: RetrievalCall): string {
  const { query, retriever: index, version: indexVersion = null, topK = null, filters = {} } = call
  const asked = { query, index, indexVersion, topK, filters }
  return canonicalOr(asked, retrieverSignature, (unsafe) =>
    retrieverSignature(JSON.parse(safeStringify(unsafe)) as typeof asked),
  )
}

/** The hash of a body from which nothing was taken is the one it has anyway; hashing 50 KB twice would cost as much as writing it. */
function opaqueDigest(body: AddedBody): BodyHash {
  return body.isAsGiven ? body.hash : bodyHash(body.comparable())
}

function comparableValue(value: unknown, body: AddedBody): unknown {
  return body.isAsGiven ? value : body.comparableValue()
}

const nameOf = (name: unknown): string => (typeof name === "string" ? name : safeStringify(name))

/** A cycle, a bigint in an odd place or a million levels have no canonical form; the safe JSON still tells equal from different. */
function canonicalOr<T, R>(value: T, canonical: (value: T) => R, otherwise: (value: T) => R): R {
  if (isSafeToStringify(value)) {
    try {
      return canonical(value)
    } catch {
      // The other way below copes with it.
    }
  }
  return otherwise(value)
}
