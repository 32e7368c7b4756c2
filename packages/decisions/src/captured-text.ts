import { type ArtifactRef, MASK_MIDDLE } from "@orangebox/contract"
import type { TextForm } from "./generated.js"

export interface CapturedText {
  readonly text: string
  readonly form: TextForm | undefined
}

/** A text in the form it was kept in; its digest when it was not kept. Null when there is neither. */
export function capturedText(text: string | null, ref: string | null, named?: ArtifactRef): CapturedText | null {
  if (text !== null) return { text, form: isMasked(text, named) ? "redacted" : undefined }
  return ref === null ? null : { text: ref, form: "hash" }
}

/** A secret was taken out of the text, and with it whatever else stood there. */
export const holdsMask = (text: string): boolean => text.includes(MASK_MIDDLE)

/** Whether a name can be held against a rule: a mask or a digest in its place matches nothing. */
export const isNameKept = (name: string): boolean => !holdsMask(name) && !name.startsWith("hmac:")

export const isMasked = (text: string, named?: ArtifactRef): boolean =>
  (named?.masks?.length ?? named?.mask_count ?? 0) > 0 || holdsMask(text)
