import { OrangeboxError } from "@orangebox/contract"
import { CANON_VERSION } from "@orangebox/dialects"
import { MasksFile } from "../generated.js"
import type { AcceptedMask } from "../match/comparable.js"

export const EMPTY_MASKS: MasksFile = { v: 1, canon_version: CANON_VERSION, masks: [] }

export function parseMasksFile(value: unknown, where = "masks"): MasksFile {
  const result = MasksFile.safeParse(value)
  if (!result.success) {
    const issue = result.error.issues[0]!
    throw new OrangeboxError("MASKS_FILE", { what: `${issue.path.map(String).join(".")}: ${issue.message}`, where })
  }
  if (result.data.canon_version !== CANON_VERSION) {
    throw new OrangeboxError("MASKS_FILE", {
      what: `written for canonical form ${result.data.canon_version}, this build uses ${CANON_VERSION}`,
      where,
      next: "Calibrate again: orangebox replay RUN --calibrate",
    })
  }
  return result.data
}

/** Adds masks a person said yes to. One that is there already stays as it was accepted. */
export function acceptMasks(
  file: MasksFile,
  masks: readonly AcceptedMask[],
  by: { readonly acceptedBy: string; readonly acceptedAt: string },
): MasksFile {
  const known = new Set(file.masks.map(({ id }) => id))
  const added = masks
    .filter(({ id }) => !known.has(id))
    .map(({ id, type, at }) => ({ id, type, at, accepted_by: by.acceptedBy, accepted_at: by.acceptedAt }))
  return { ...file, masks: [...file.masks, ...added] }
}
