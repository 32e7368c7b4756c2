import { types } from "node:util"
import { canonicalJson, textHash } from "@orangebox/contract"
import { captureBody } from "./captured-body.js"
import { carelessJson, isTame } from "./careless-json.js"

/** Version of the generic canonical form below; provider dialects count from 1. */
export const GENERIC_CANON_VERSION = 0

/** What was asked, independent of key order: equal calls have equal signatures. */
export function callSignature(kind: "model" | "tool" | "retriever", name: string, question: unknown): string {
  return textHash(
    `obx-sig\0${GENERIC_CANON_VERSION}\0${kind}\0${typeof name === "string" ? name : carelessJson(name)}\0${canonicalQuestion(question)}`,
  )
}

function canonicalQuestion(question: unknown): string {
  if (typeof question === "string" || types.isUint8Array(question)) return captureBody(question).hash
  if (isTame(question)) {
    try {
      return canonicalJson(question ?? null)
    } catch {
      // A cycle or a bigint in an odd place has no canonical form; the tamed JSON still tells equal from different.
    }
  }
  return carelessJson(question)
}
