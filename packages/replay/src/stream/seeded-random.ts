import { hash } from "node:crypto"

/** Numbers in [0, 1) that are the same for the same seed, on every machine (mulberry32 over a hashed seed). */
export function seededRandom(seed: string): () => number {
  let state = Number.parseInt(hash("sha256", seed, "hex").slice(0, 8), 16)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
