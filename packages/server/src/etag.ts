import { textHash } from "@orangebox/contract"

/** Of an answer as it is written: the same question with the same answer has the same tag, whatever happened in between. */
export const etagOf = (text: string): string => `"${textHash(text).slice("sha256:".length, 39)}"`

export const isMatch = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch?.split(",").some((one) => one.trim().replace(/^W\//, "") === etag) === true
