import { z } from "zod"
import { Count, Name } from "./fields.js"
import { RunId } from "./ids.js"

/** How sure a report is of what it says: it follows from recorded facts, it is one inference away, it may be. */
export const FindingConfidence = z.enum(["proven", "likely", "possible"])

export const AuthorKind = z.enum(["agent", "person", "judge"])

/** `not_found`: looked, and there is nothing. `unsure` is an answer too. */
export const FindingsVerdict = z.enum(["found", "not_found", "unsure"])

/** A recorded fact by its address: a step, a body of it, bytes of that, words that stand there. */
export const FindingEvidence = z.strictObject({
  /** Another run than the one that is reported on. */
  run_id: RunId.optional(),
  step: Count,
  body: Name.optional(),
  from: Count.optional(),
  to: Count.optional(),
  quote: z.string().min(1).max(2000).optional(),
})

export const ReportedFinding = z.strictObject({
  claim: z.string().min(1).max(1000),
  cause_step: Count,
  confidence: FindingConfidence,
  evidence: z.array(FindingEvidence).min(1).max(20),
  /** What was looked at to show that the claim is wrong. */
  disproof_tried: z.string().max(1000),
})

/** What was found out about a run: `orangebox.findings/1`, kept beside it as an annotation. */
export const FindingsReport = z.strictObject({
  schema: z.enum(["orangebox.findings/1"]).optional(),
  run_id: RunId.optional(),
  author: Name,
  author_kind: AuthorKind,
  verdict: FindingsVerdict,
  findings: z.array(ReportedFinding).max(20),
})
