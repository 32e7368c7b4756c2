import { createHash, hash } from "node:crypto"
import { canonicalJson } from "./json/canonical.js"

export type BodyHash = `sha256:${string}`

/** The address of a body: the hash of its bytes exactly as they are stored. */
export function bodyHash(bytes: Uint8Array): BodyHash {
  return `sha256:${hash("sha256", bytes, "hex")}`
}

/** Hash of a text's UTF-8 form. Lone surrogates have none, so hash the bytes you store, not the string, where they may occur. */
export function textHash(text: string): BodyHash {
  return `sha256:${hash("sha256", text, "hex")}`
}

/** Hash of a value, independent of key order and of how the value was built. */
export function canonicalHash(value: unknown): BodyHash {
  return textHash(canonicalJson(value))
}

/** For bodies that arrive in pieces. */
export function incrementalBodyHash(): { update(bytes: Uint8Array): void; digest(): BodyHash } {
  const running = createHash("sha256")
  return {
    update: (bytes) => void running.update(bytes),
    digest: () => `sha256:${running.digest("hex")}`,
  }
}
