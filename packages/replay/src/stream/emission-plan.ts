import { hash } from "node:crypto"
import type { StreamEnd, StreamIndex } from "../tape/tape.js"

/** How a body is cut into writes: at its events, as it was read when it was recorded, not at all, or anywhere. */
export type Chunking = "event" | "recorded" | "single" | `fuzz:${string}`
/** When each write leaves. */
export type Timing = "none" | "recorded" | "ttft" | `scale:${number}` | `fixed:${number}`

export interface StreamToEmit {
  readonly bytes: Uint8Array
  readonly isEventStream: boolean
  readonly index: StreamIndex | null
  readonly end: StreamEnd | null
  /** How long the recorded exchange took, to the moment the client left where it did. */
  readonly latencyMs?: number
}

export interface EmissionPlan {
  readonly pieces: readonly { readonly atMs: number; readonly bytes: Uint8Array }[]
  /**
   * After the last piece: `complete` ends the answer; `reset` destroys the connection, as the recorded one broke off there; `hold` leaves
   * it open, because it was the client who left, and breaks it off at `atMs` for a client that stays: what came then was not recorded.
   */
  readonly end: { readonly how: "complete" | "reset" | "hold"; readonly atMs: number }
}

/** What to write when. The pieces always join to exactly the bytes given. */
export function emissionPlan(
  stream: StreamToEmit,
  options: { readonly chunking?: Chunking; readonly timing?: Timing } = {},
): EmissionPlan {
  const { bytes, index } = stream
  const cuts = [...cutsOf(stream, options.chunking ?? "event"), bytes.length]
  const timeOf = clockOf(options.timing ?? "none", index)
  const pieces: { atMs: number; bytes: Uint8Array }[] = []
  let from = 0
  for (const cut of cuts) {
    if (cut <= from) continue
    pieces.push({ atMs: timeOf(cut, pieces.length), bytes: bytes.subarray(from, cut) })
    from = cut
  }
  const how = endOf(stream.end)
  const lastMs = pieces.at(-1)?.atMs ?? 0
  const atMs = how === "hold" ? Math.max(lastMs, stream.latencyMs ?? 0) + PATIENCE_MS : lastMs
  return { pieces, end: { how, atMs } }
}

/** How much longer than the recorded client one may take to leave. */
export const PATIENCE_MS = 3000

function endOf(end: StreamEnd | null): EmissionPlan["end"]["how"] {
  if (end === "upstream_reset" || end === "timeout") return "reset"
  return end === "client_abort" ? "hold" : "complete"
}

function cutsOf({ bytes, isEventStream, index }: StreamToEmit, chunking: Chunking): readonly number[] {
  if (chunking === "single") return []
  if (chunking === "event") return isEventStream ? eventEnds(bytes) : []
  if (chunking === "recorded") return (index?.reads ?? []).map(([offset]) => offset).filter((at) => at < bytes.length)
  return fuzzCuts(bytes.length, chunking.slice("fuzz:".length))
}

/** Where each event of an event stream ends: behind the blank line that dispatches it. */
function eventEnds(bytes: Uint8Array): number[] {
  const ends: number[] = []
  let isLineEmpty = true
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte !== LF && byte !== CR) {
      isLineEmpty = false
      continue
    }
    if (byte === CR && bytes[at + 1] === LF) at++
    if (isLineEmpty) ends.push(at + 1)
    isLineEmpty = true
  }
  return ends
}

const LF = 0x0a
const CR = 0x0d

const LONGEST_FUZZ_PIECE = 64

// Short pieces on purpose: the places where clients break are inside characters, inside field names and between CR and LF.
function fuzzCuts(length: number, seed: string): number[] {
  const random = seededRandom(seed)
  const cuts: number[] = []
  for (let at = 0; at < length; ) {
    at += 1 + Math.floor(random() * LONGEST_FUZZ_PIECE)
    if (at < length) cuts.push(at)
  }
  return cuts
}

/** The time at which a piece that ends at a byte may leave. */
function clockOf(timing: Timing, index: StreamIndex | null): (end: number, position: number) => number {
  const reads = index?.reads ?? []
  const first = (reads[0]?.[1] ?? 0) / 1000
  if (timing === "none") return () => 0
  if (timing === "ttft") return () => first
  if (timing.startsWith("fixed:")) {
    const stepMs = positive(timing.slice("fixed:".length))
    return (_, position) => position * stepMs
  }
  const scale = timing === "recorded" ? 1 : positive(timing.slice("scale:".length))
  // A piece that ends in the middle of a read was complete when that read came; both lists ascend, so one pass does.
  let at = 0
  let lastMs = 0
  return (end) => {
    while (at < reads.length && reads[at]![0] < end) lastMs = Math.max(lastMs, reads[at++]![1] / 1000)
    return lastMs * scale
  }
}

function positive(text: string): number {
  const value = Number(text)
  return Number.isFinite(value) && value >= 0 ? value : 0
}

/** Undefined when the text is none of the ways to cut. */
export function parseChunking(text: string): Chunking | undefined {
  if (text === "event" || text === "recorded" || text === "single") return text
  return /^fuzz:.+$/.test(text) ? (text as Chunking) : undefined
}

export function parseTiming(text: string): Timing | undefined {
  if (text === "none" || text === "recorded" || text === "ttft") return text
  return /^(?:scale|fixed):\d+(?:\.\d+)?$/.test(text) ? (text as Timing) : undefined
}

/** Numbers in [0, 1) that are the same for the same seed, on every machine (mulberry32 over a hashed seed). */
function seededRandom(seed: string): () => number {
  let state = Number.parseInt(hash("sha256", seed, "hex").slice(0, 8), 16)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
