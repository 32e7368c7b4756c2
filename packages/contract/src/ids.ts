import { hash, randomFillSync } from "node:crypto"

/** Where ids come from. Injected, so that tests and replays are deterministic. */
export interface IdSource {
  run(atMs: number): string
  trace(): string
  step(): string
  event(atMs: number): string
}

/** The application whose runs are canaries: `orangebox doctor` records them as a test, and `last` never means one. */
export const CANARY_APP = "orangebox-doctor"

export function randomIds(): IdSource {
  return {
    run: (atMs) => `run_${ulid(atMs)}`,
    trace: () => nonZeroHex(16),
    step: () => nonZeroHex(8),
    event: uuidV7,
  }
}

// One refill of 4 KiB costs about as much as one randomUUID(); taking ids out of a pool keeps an emit under a microsecond.
const pool = Buffer.allocUnsafe(4096)
let poolOffset = pool.length

function takeRandom(bytes: number): number {
  if (poolOffset + bytes > pool.length) {
    randomFillSync(pool)
    poolOffset = 0
  }
  const start = poolOffset
  poolOffset += bytes
  return start
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))
const hexByte = (offset: number): string => HEX[pool[offset]!]!

function nonZeroHex(bytes: number): string {
  for (;;) {
    const start = takeRandom(bytes)
    let text = ""
    let any = 0
    for (let i = start; i < start + bytes; i++) {
      text += hexByte(i)
      any |= pool[i]!
    }
    if (any !== 0) return text
  }
}

let uuidTimePrefix = ""
let uuidTimeMs = -1

function uuidV7(atMs: number): string {
  if (atMs !== uuidTimeMs) {
    uuidTimePrefix = uuidTime(atMs)
    uuidTimeMs = atMs
  }
  const r = takeRandom(10)
  const version = hexByte(r).slice(1) + hexByte(r + 1)
  const variant = HEX[(pool[r + 2]! & 0x3f) | 0x80]! + hexByte(r + 3)
  const tail = hexByte(r + 4) + hexByte(r + 5) + hexByte(r + 6) + hexByte(r + 7) + hexByte(r + 8) + hexByte(r + 9)
  return `${uuidTimePrefix}${version}-${variant}-${tail}`
}

// A time that is no number, or before 1970, still gives a valid id: an odd clock must not cost the record.
const wholeMs = (atMs: number): number => (atMs >= 0 && atMs < 2 ** 48 ? Math.floor(atMs) : 0)

function uuidTime(atMs: number): string {
  const hex = wholeMs(atMs).toString(16).padStart(12, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7`
}

/** The event id of a record that was written without one: the same name always gives the same id. */
export function derivedEventId(atMs: number, name: string): string {
  const digits = hash("sha256", name, "hex")
  const variant = HEX[(Number.parseInt(digits.slice(3, 5), 16) & 0x3f) | 0x80]!
  return `${uuidTime(atMs)}${digits.slice(0, 3)}-${variant}${digits.slice(5, 7)}-${digits.slice(7, 19)}`
}

/** Ids of what another program recorded: the same name always gives the same id, so reading it again adds nothing. */
export const derivedIds = {
  run: (atMs: number, name: string): string => {
    const bytes = hash("sha256", `run\0${name}`, "buffer")
    return `run_${ulidTime(atMs)}${[...bytes.subarray(0, 16)].map((byte) => CROCKFORD[byte & 31]).join("")}`
  },
  trace: (name: string): string => nonZero(hash("sha256", `trace\0${name}`, "hex").slice(0, 32)),
  step: (name: string): string => nonZero(hash("sha256", `step\0${name}`, "hex").slice(0, 16)),
  event: derivedEventId,
} as const

const nonZero = (hex: string): string => (/^0+$/.test(hex) ? `${hex.slice(1)}1` : hex)

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

function ulid(atMs: number): string {
  const start = takeRandom(16)
  let random = ""
  for (let i = start; i < start + 16; i++) random += CROCKFORD[pool[i]! & 31]!
  return ulidTime(atMs) + random
}

function ulidTime(atMs: number): string {
  let time = ""
  let rest = wholeMs(atMs)
  for (let i = 0; i < 10; i++) {
    time = CROCKFORD[rest % 32]! + time
    rest = Math.floor(rest / 32)
  }
  return time
}
