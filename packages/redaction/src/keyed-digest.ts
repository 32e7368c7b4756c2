import { createHmac } from "node:crypto"
import type { BodyHash } from "@orangebox/contract"

/** A digest that compares within one store and that a reader without the store's key cannot check a guess against. */
export function keyedDigest(key: Uint8Array, content: string | Uint8Array): BodyHash {
  return `sha256:${createHmac("sha256", key).update(content).digest("hex")}`
}

/** The same for a word that stands in a field of any text: short, and the same for the same word wherever it stands. */
export function digestWord(key: Uint8Array, word: string): string {
  return `hmac:${keyedDigest(key, word).slice(7, 31)}`
}

export const isDigestWord = (value: unknown): boolean => typeof value === "string" && /^hmac:[0-9a-f]{24}$/.test(value)

export function incrementalKeyedDigest(key: Uint8Array): { update(bytes: Uint8Array): void; digest(): BodyHash } {
  const running = createHmac("sha256", key)
  return {
    update: (bytes) => void running.update(bytes),
    digest: () => `sha256:${running.digest("hex")}`,
  }
}

/** Names a key without telling it: whether two were masked under the same one. */
export const maskKeyId = (key: Uint8Array): string => keyedDigest(key, "orangebox mask key").slice(7, 23)
