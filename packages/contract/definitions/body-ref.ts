import { z } from "zod"
import { MAX_LISTED_MASKS } from "../src/body-ref.js"
import { added } from "./define-event.js"
import { BodyId } from "./ids.js"

/** Why the bytes behind a ref are not there. Only `lost` makes the event invalid. */
export const AbsentReason = z.enum(["hashed", "not_kept", "pruned", "redacted_later", "lost"])

/** A secret that was taken out of a body. */
export const BodyMask = z.strictObject({
  /** In bytes of the stored body. */
  offset: z.number().int().nonnegative(),
  length: z.number().int().nonnegative(),
  rule: z.string().min(1).max(128),
  /** Keyed digest of the secret: tells different ones apart that mask alike. */
  tag: z.string().min(1).max(128),
})

/** The artifact reference contract: one entry for every body that an event's payload names. */
export const ArtifactRef = z.strictObject({
  artifact_hash: BodyId,
  /** What the body is to this event: the payload field that names it without `_ref`, or the kind of work product. */
  artifact_type: z.string().min(1).max(64),
  byte_size: z.number().int().nonnegative(),
  /** How the stored bytes are encoded. `identity` unless the source could not be decoded. */
  content_encoding: z.string().min(1).max(64),
  mime_type: z.string().min(1).max(256),
  /** Which set of redaction rules the bytes went through; `none` means they are as the source gave them. */
  redaction_profile: z.string().min(1).max(64),
  absent: added(AbsentReason.optional()),
  /** Set when only the first part was kept: how many bytes the source had. */
  full_byte_size: added(z.number().int().nonnegative().optional()),
  masks: added(z.array(BodyMask).max(MAX_LISTED_MASKS).optional()),
  /** How many masks the body holds, where not all are listed. */
  mask_count: added(z.number().int().nonnegative().optional()),
})

/** A payload field that names a body. */
export const BodyRef = BodyId.meta({ bodyRef: true })
