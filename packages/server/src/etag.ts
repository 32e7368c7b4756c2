import { textHash } from "@orangebox/contract"
import type { Reply } from "./reply.js"

/** Of an answer as it is written: the same question with the same answer has the same tag, whatever happened in between. */
export const etagOf = (text: string): string => `"${textHash(text).slice("sha256:".length, 39)}"`

/** The answer, or only its tag for who has it already. */
export function unlessKnown(reply: Reply, ifNoneMatch: string | undefined): Reply {
  const etag = reply.headers["etag"]
  const isKnown =
    etag !== undefined && ifNoneMatch?.split(",").some((one) => one.trim().replace(/^W\//, "") === etag) === true
  return isKnown ? { status: 304, headers: { etag }, body: "" } : reply
}
