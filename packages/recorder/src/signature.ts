import { canonicalJson, textHash } from "@orangebox/contract"
import { captureBody } from "./captured-body.js"
import { carelessJson } from "./careless-json.js"

/** Version of the generic canonical form below; provider dialects count from 1. */
export const GENERIC_CANON_VERSION = 0

/** What was asked, independent of key order: equal calls have equal signatures. */
export function callSignature(kind: "model" | "tool" | "retriever", name: string, question: unknown): string {
  return textHash(`obx-sig\0${GENERIC_CANON_VERSION}\0${kind}\0${name}\0${canonicalQuestion(question)}`)
}

function canonicalQuestion(question: unknown): string {
  if (typeof question === "string" || question instanceof Uint8Array) return captureBody(question).hash
  try {
    return canonicalJson(question ?? null)
  } catch {
    // Cycles and the like have no canonical form; their tamed JSON still tells equal from different.
    return carelessJson(question)
  }
}
