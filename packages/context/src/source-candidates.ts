import { type Problem, summarizeText } from "@orangebox/contract"
import type { Candidate, Considered } from "./candidate.js"
import type { SourceReading, Stage } from "./stage.js"
import type { WorkspaceFiles } from "./workspace-files.js"

/** The rest of tier 2: what the catalog's own sources hold for the stage, and the sources it refuses. */
export function sourceCandidates(
  stage: Stage,
  files: WorkspaceFiles,
  considered: Considered,
): { candidates: Candidate[]; problems: Problem[] } {
  const candidates: Candidate[] = []
  const problems: Problem[] = []
  for (const source of stage.sources) {
    let reading: SourceReading
    try {
      reading = source.read(files, stage)
    } catch (error) {
      if (isOurs(error)) throw error
      const subject = `source:${source.id}`
      problems.push({ code: "source_failed", severity: "error", subject, field: "", reason: String(error) })
      considered.exclude({
        item_id: subject,
        item_type: "memory",
        source_ref: subject,
        excluded_reason: "source_failed",
        detail: error instanceof Error ? error.name : typeof error,
      })
      continue
    }
    problems.push(...reading.problems)
    const named = new Set([...reading.items, ...reading.excluded].map(({ id }) => id))
    // What could not be read was there to be read: a line that is lost without a word would look like one that was never written.
    for (const problem of reading.problems) {
      const id = idOf(problem)
      if (named.has(id)) continue
      named.add(id)
      considered.exclude({
        item_id: id,
        item_type: "evidence",
        source_ref: `file:${id}`,
        excluded_reason: "unreadable",
        detail: summarizeText(problem.reason),
      })
    }
    for (const { id, type, sourceRef, placed } of reading.items) {
      candidates.push({
        id: considered.admit(id),
        type,
        sourceRef,
        reason: "retrieval_trigger",
        // The bundle will be frozen; the source's own records must not be.
        placed: structuredClone(placed),
      })
    }
    for (const { id, type, sourceRef, reason } of reading.excluded) {
      considered.exclude({ item_id: id, item_type: type, source_ref: sourceRef, excluded_reason: reason })
    }
  }
  // The refusal is part of every context: a reader of the manifest sees the policy, not only its victims.
  for (const { kind, type, reason } of stage.refusedSources) {
    considered.exclude({
      item_id: `refused:${kind}`,
      item_type: type,
      source_ref: `catalog:${stage.catalog}#refused.${kind}`,
      excluded_reason: "policy_filter",
      detail: reason,
    })
  }
  return { candidates, problems }
}

/** A missing reader is the caller's mistake, not the source's. */
const isOurs = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "CONTEXT_READER"

/** `history.jsonl#L3` of a problem with its line 3, `outcomes.json#0` of one with its first entry. */
function idOf({ subject, field }: Problem): string {
  const place = /^line (\d+)$/.exec(field)?.[1]
  const entry = /^\[(\d+)\]$/.exec(field)?.[1]
  const at = place !== undefined ? `L${place}` : (entry ?? field)
  return at === "" ? subject : `${subject}#${at}`
}
