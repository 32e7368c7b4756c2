import { MASK_TYPES, type MaskType } from "@orangebox/dialects"
import { z } from "zod"

/** The masks that a person accepted for a project, as a file beside its configuration. Every report names the ones it used. */
export const MasksFile = z.strictObject({
  v: z.literal(1),
  /** The canonical form the places point into. */
  canon_version: z.number().int().nonnegative(),
  masks: z.array(
    z.strictObject({
      id: z.string().min(1),
      type: z.enum(MASK_TYPES as [MaskType, ...MaskType[]]),
      at: z.string().startsWith("/"),
      accepted_by: z.string().min(1),
      accepted_at: z.string().min(1),
    }),
  ),
})
