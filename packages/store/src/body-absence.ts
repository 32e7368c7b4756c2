import { BODY } from "./codes.js"
import type { Absence } from "./trace-store.js"

export const UNKNOWN_BODY = "this store has never had a body with this hash"

/** Why the bytes of a body in this state are not there; undefined where they are. */
export function absenceOf(
  state: number,
  { hash, byteSize, onMs }: { readonly hash: string; readonly byteSize: number; readonly onMs: number },
): Absence | undefined {
  switch (state) {
    case BODY.here:
      return undefined
    case BODY.pruned:
      return { absent: "pruned", hash, byteSize, onMs, reason: "retention removed it" }
    case BODY.redacted:
      return { absent: "redacted_later", hash, byteSize, onMs, reason: "it was redacted after it was recorded" }
    default:
      return { absent: "lost", hash, byteSize, reason: "an event names it, but its bytes never arrived" }
  }
}
