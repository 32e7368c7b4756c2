import { types } from "node:util"
import { type BodyHash, canonicalJson, textHash } from "@orangebox/contract"
import { carelessJson, isTame } from "./careless-json.js"

/** Version of the generic canonical form below; provider dialects count from 1. */
export const GENERIC_CANON_VERSION = 0

/**
 * What was asked, independent of key order: equal calls have equal signatures. A question that is already text or bytes is told by the
 * hash its body has anyway; hashing 50 KB twice would cost as much as writing it.
 */
export function callSignature(
  kind: "model" | "tool" | "retriever",
  name: string,
  question: unknown,
  hash: BodyHash,
): string {
  const isOpaque = typeof question === "string" || types.isUint8Array(question)
  const asked = isOpaque ? hash : canonicalQuestion(question)
  return textHash(
    `obx-sig\0${GENERIC_CANON_VERSION}\0${kind}\0${typeof name === "string" ? name : carelessJson(name)}\0${asked}`,
  )
}

function canonicalQuestion(question: unknown): string {
  if (isTame(question)) {
    try {
      return canonicalJson(question ?? null)
    } catch {
      // A cycle or a bigint in an odd place has no canonical form; the tamed JSON still tells equal from different.
    }
  }
  return carelessJson(question)
}
