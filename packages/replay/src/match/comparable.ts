import { readJson, textHash } from "@orangebox/contract"
import {
  canonicalRequestText,
  detectDialect,
  MASK_TYPES,
  type MaskType,
  maskText,
  readBody,
  toolTrafficOf,
  type WithoutClientNoise,
  withoutClientNoise,
} from "@orangebox/dialects"
import { nodesOf, pointerMatches } from "@orangebox/text"
import { type Splice, spliced } from "../json/json-edit.js"
import { addressOf, withTags } from "../tape/sign.js"
import { readStored } from "../tape/stored-body.js"
import type { Bodies, TapeCall } from "../tape/tape.js"
import type { AskedRequest } from "./ask.js"

/**
 * A request as two of them are compared beyond their signatures: canonical JSON, secrets told apart by their tags, and a token in the place of
 * what its client makes up anew. Everything that looks closer than a digest (masks, drift, the nearest call) reads this one text, so that
 * pointers mean the same everywhere.
 */
export function comparable(kind: TapeCall["kind"], request: AskedRequest): WithoutClientNoise {
  const body = withTags(request.body, request.masks ?? [])
  if (kind === "retriever") {
    const query = Buffer.from(body).toString("utf8")
    return asItIs(JSON.stringify({ query, ...(request.retrieval ?? {}) }))
  }
  const json = readBody(body)
  if (request.method !== null && request.url !== null) {
    const address = addressOf(request.method, request.url)
    const dialect = detectDialect({ ...address, requestBody: json })?.dialect
    const canonical = canonicalRequestText({ ...address, body: json, dialect })
    if (canonical !== undefined) return withoutClientNoise(canonical, request.headers ?? [])
  }
  return asItIs(json.root === undefined ? JSON.stringify(json.text) : json.text)
}

const asItIs = (text: string): WithoutClientNoise => ({ text, taken: new Map() })

export const comparableText = (kind: TapeCall["kind"], request: AskedRequest): string => comparable(kind, request).text

const ofCalls = new WeakMap<TapeCall, WithoutClientNoise | null>()

/** The same of a recorded call; undefined when its request is not there. */
export function recordedComparable(call: TapeCall, bodies: Bodies): WithoutClientNoise | undefined {
  const known = ofCalls.get(call)
  if (known !== undefined) return known ?? undefined
  const request = recordedRequest(call, bodies)
  const found = request === undefined ? null : comparable(call.kind, request)
  ofCalls.set(call, found)
  return found ?? undefined
}

export const recordedText = (call: TapeCall, bodies: Bodies): string | undefined =>
  recordedComparable(call, bodies)?.text

/** A recorded request in the form of a new one. */
export function recordedRequest(call: TapeCall, bodies: Bodies): AskedRequest | undefined {
  const { body, method, url, headers, retrieval } = call.request
  const reading = body === null ? { ok: true as const, bytes: new Uint8Array(0) } : readStored(body, bodies)
  if (!reading.ok || body?.isCut) return undefined
  return { method, url, headers, retrieval, body: reading.bytes, masks: body?.masks ?? [], maskCount: body?.maskCount }
}

/** A mask that a person accepted: values of one type in one place stand for each other. */
export interface AcceptedMask {
  readonly id: string
  readonly type: MaskType
  /** JSON Pointer pattern into the canonical request; `*` stands for one part, a final `**` for any number. */
  readonly at: string
}

export interface MaskedText {
  readonly key: string
  /** The masks that changed something. */
  readonly used: readonly string[]
}

/** Equal keys: equal but for values that accepted masks cover. */
export function maskedKey(text: string, masks: readonly AcceptedMask[]): MaskedText {
  const splices: Splice[] = []
  const used = new Set<string>()
  const reading = readJson(text)
  if (!reading.ok) return { key: textHash(text), used: [] }
  // In the order in which they were proposed to be enough together, whatever order a file lists them in.
  const readers = MASK_TYPES.flatMap((type) => masks.filter((mask) => mask.type === type)).map((mask) => ({
    ...mask,
    apply: maskText([mask.type]),
  }))
  for (const { node, pointer } of nodesOf(reading.node)) {
    if (node.kind !== "string" && node.kind !== "number") continue
    const before = node.kind === "string" ? node.value : node.lexeme
    let value = before
    for (const { id, at, apply } of readers) {
      if (!pointerMatches(at, pointer)) continue
      const masked = apply(value)
      if (masked !== value) used.add(id)
      value = masked
    }
    if (value !== before) splices.push({ start: node.start, end: node.end, with: JSON.stringify(value) })
  }
  return { key: textHash(spliced(text, splices)), used: [...used] }
}

/** Equal keys: equal but for what tools gave back, each result standing where the recorded one stood. */
export function driftKey(text: string): { readonly key: string; readonly results: number } {
  const reading = readJson(text)
  if (!reading.ok) return { key: textHash(text), results: 0 }
  const splices: Splice[] = []
  for (const { node } of nodesOf(reading.node)) {
    const result = toolTrafficOf(node)?.result?.content
    if (result !== undefined) splices.push({ start: result.start, end: result.end, with: '"@result"' })
  }
  return { key: textHash(spliced(text, splices)), results: splices.length }
}
