import { createHash } from "node:crypto"
import type { Event } from "./catalog.js"
import { canonicalJson } from "./json/canonical.js"

/**
 * One hash over everything a run's own writer said, in order. Annotations stand outside, so a later verdict does not change it;
 * any changed, missing, added or reordered event does.
 */
export function runDigest(events: readonly Event[]): string {
  let chain = Buffer.alloc(32)
  for (const event of events) {
    if (event.sequence_no === null) continue
    chain = createHash("sha256").update("obx-run\0").update(chain).update(canonicalJson(event)).digest()
  }
  return `sha256:${chain.toString("hex")}`
}
