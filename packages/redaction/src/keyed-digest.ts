import { createHmac } from "node:crypto"
import type { BodyHash } from "@orangebox/contract"

/** A digest that compares within one store and that a reader without the store's key cannot check a guess against. */
export function keyedDigest(key: Uint8Array, content: string | Uint8Array): BodyHash {
  return `sha256:${createHmac("sha256", key).update(content).digest("hex")}`
}

export function incrementalKeyedDigest(key: Uint8Array): { update(bytes: Uint8Array): void; digest(): BodyHash } {
  const running = createHmac("sha256", key)
  return {
    update: (bytes) => void running.update(bytes),
    digest: () => `sha256:${running.digest("hex")}`,
  }
}
