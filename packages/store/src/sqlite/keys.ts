import { OrangeboxError } from "@orangebox/contract"

/**
 * Row keys that keep a run together. An event's key is its run's number times 2²⁶ plus its place in the run, so the events of a run are
 * one range of the table's own b-tree: found without an index, read from neighbouring pages, whatever else was recorded in between.
 *
 * The lower half of a run's range belongs to its own events, placed by `sequence_no`. The upper half takes what has no place there, in
 * the order of arrival: annotations, and records that claim a number already used. Events outside any run have negative keys.
 *
 * 2²⁷ runs of 2²⁵ events fit into the integers that JavaScript represents exactly.
 */
export const PLACES = 2 ** 26
export const OWN_PLACES = 2 ** 25
const MAX_RUN_KEY = 2 ** 27 - 1

export function eventKey(runKey: number, place: number): number {
  return runKey * PLACES + place
}

export function runKeyOf(key: number): number {
  return Math.floor(key / PLACES)
}

export function placeOf(key: number): number {
  return key - runKeyOf(key) * PLACES
}

export function firstKey(runKey: number): number {
  return runKey * PLACES
}

export function firstLooseKey(runKey: number): number {
  return runKey * PLACES + OWN_PLACES
}

export function lastKey(runKey: number): number {
  return runKey * PLACES + PLACES - 1
}

export function checkRunKey(runKey: number): number {
  if (runKey <= MAX_RUN_KEY) return runKey
  throw new OrangeboxError("STORE_RUNS_EXHAUSTED", {
    what: `this store has numbered ${MAX_RUN_KEY} runs and cannot number more`,
    next: "Start a new data folder",
  })
}

/** Hex ids are stored as bytes, half as long; an id that is not what the contract asks for is kept as the text it is. */
export function packHex(id: string, digits: number): Uint8Array | string {
  return packHexInto(new Uint8Array(digits / 2), id)
}

/** The same into bytes that are used again for the next id: right for a value that is bound and done with. */
export function packHexInto(target: Uint8Array, id: string): Uint8Array | string {
  return id.length === target.length * 2 && readHex(target, 0, id, 0, id.length) ? target : id
}

export function unpackHex(stored: unknown): string {
  return typeof stored === "string" ? stored : hexOf(stored as Uint8Array)
}

export function packUuid(id: string): Uint8Array | string {
  return packUuidInto(new Uint8Array(16), id)
}

export function packUuidInto(target: Uint8Array, id: string): Uint8Array | string {
  const isUuid =
    id.length === 36 &&
    id.charCodeAt(8) === DASH &&
    id.charCodeAt(13) === DASH &&
    id.charCodeAt(18) === DASH &&
    id.charCodeAt(23) === DASH &&
    readHex(target, 0, id, 0, 8) &&
    readHex(target, 4, id, 9, 13) &&
    readHex(target, 6, id, 14, 18) &&
    readHex(target, 8, id, 19, 23) &&
    readHex(target, 10, id, 24, 36)
  return isUuid ? target : id
}

export function unpackUuid(stored: unknown): string {
  if (typeof stored === "string") return stored
  const hex = hexOf(stored as Uint8Array)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

export function packHash(hash: string): Uint8Array | undefined {
  return packHashInto(new Uint8Array(32), hash)
}

export function packHashInto(target: Uint8Array, hash: string): Uint8Array | undefined {
  return hash.length === 71 && hash.startsWith("sha256:") && readHex(target, 0, hash, 7, 71) ? target : undefined
}

export function unpackHash(stored: unknown): string {
  return `sha256:${hexOf(stored as Uint8Array)}`
}

const DASH = 0x2d

/** The value of each lower-case hex digit by its character code, -1 for everything else: an id has one spelling. */
const DIGITS = new Int8Array(128).fill(-1)
for (const [value, digit] of [..."0123456789abcdef"].entries()) DIGITS[digit.charCodeAt(0)] = value

// One pass that checks and converts. Buffer.from(id, "hex") behind a regular expression took three times as long and left an
// object for each id to the garbage collector, which was a sixth of the time of an ingest.
function readHex(target: Uint8Array, at: number, text: string, from: number, to: number): boolean {
  let index = at
  for (let next = from; next < to; next += 2) {
    const high = DIGITS[text.charCodeAt(next)] ?? -1
    const low = DIGITS[text.charCodeAt(next + 1)] ?? -1
    if (high < 0 || low < 0) return false
    target[index++] = high * 16 + low
  }
  return true
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")
}
