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
  return id.length === digits && HEX.test(id) ? Buffer.from(id, "hex") : id
}

export function unpackHex(stored: unknown): string {
  return typeof stored === "string" ? stored : hexOf(stored as Uint8Array)
}

export function packUuid(id: string): Uint8Array | string {
  return UUID.test(id) ? Buffer.from(id.replaceAll("-", ""), "hex") : id
}

export function unpackUuid(stored: unknown): string {
  if (typeof stored === "string") return stored
  const hex = hexOf(stored as Uint8Array)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

export function packHash(hash: string): Uint8Array | undefined {
  return BODY_ID.test(hash) ? Buffer.from(hash.slice(7), "hex") : undefined
}

export function unpackHash(stored: unknown): string {
  return `sha256:${hexOf(stored as Uint8Array)}`
}

const HEX = /^[0-9a-f]*$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const BODY_ID = /^sha256:[0-9a-f]{64}$/

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")
}
