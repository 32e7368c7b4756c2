import { z } from "zod"
import { Count, Name } from "./fields.js"

/** Steps by what they are: their kind (`queue.deliver`, `tool`), their name, how they ended, whose they are. What is not given is not asked. */
export const StepSelector = z.strictObject({
  kind: Name.optional(),
  name: Name.optional(),
  status: z.enum(["success", "error", "timeout", "open"]).optional(),
  source: Name.optional(),
})

/**
 * A rule of a source about its steps, as data: repositories are not trusted, so none of it is run. Exactly one of `count`, `missing`,
 * `mismatch` and `threshold` says what breaks it. What is compared are attributes of steps.
 */
export const SourceDetector = z.strictObject({
  id: Name,
  /** What it means when it is broken. Shown as the source's words. */
  says: z.string().min(1).max(300),
  severity: z.enum(["harm", "waste", "notice"]),
  /** The steps that it is about. */
  of: StepSelector,
  /** Steps with the same values under these attributes, more often than this; and, where something is named, more often than that. */
  count: z
    .strictObject({ by: z.array(Name).min(1).max(4), more_than: Count, exceeding: StepSelector.optional() })
    .optional(),
  /** A step without one of these that has the same value under an attribute. */
  missing: z.strictObject({ without: StepSelector, by: Name }).optional(),
  /** A step whose attribute has another value than one of its own, or of the step that has the same value under `by`. */
  mismatch: z
    .strictObject({ attribute: Name, other: Name, in: StepSelector.optional(), by: Name.optional() })
    .optional(),
  /** A step whose attribute, or `duration_ms`, is a number above this. */
  threshold: z.strictObject({ attribute: Name, above: z.number() }).optional(),
})

/** What a source knows about its own steps: notes for whoever investigates it, and rules. */
export const SourceDiagnostics = z.strictObject({
  notes: z.array(z.string().min(1).max(1000)).max(20),
  detectors: z.array(SourceDetector).max(50),
})
