import { type Problem, summarizeText } from "@orangebox/contract"
import type { Candidate, Considered } from "./candidate.js"
import type { ItemType } from "./generated.js"
import { itemText, SECTIONS } from "./sections.js"
import type { Stage } from "./stage.js"

/** Decides what must not reach a prompt. Tier 0 is policy itself and is not asked about. */
export interface PolicyFilter {
  readonly id: string
  /** Why the item is refused; undefined lets it pass. A filter that throws refuses. */
  refuses(item: PolicySubject): string | undefined
}

export interface PolicySubject {
  readonly itemId: string
  readonly itemType: ItemType
  readonly sourceRef: string
  readonly sourceKind: string | undefined
  readonly text: string
}

/** The candidates that every filter lets pass. The catalog's refused sources are a filter like any other. */
export function applyPolicies(
  stage: Stage,
  candidates: readonly Candidate[],
  filters: readonly PolicyFilter[],
  considered: Considered,
): { passed: Candidate[]; problems: Problem[] } {
  const problems: Problem[] = []
  const refusals = new Map(stage.refusedSources.map(({ kind, reason }) => [kind, reason]))
  const passed = candidates.filter((candidate) => {
    if (SECTIONS[candidate.placed.section].share === "tier0") return true
    const refusal = candidate.sourceKind === undefined ? undefined : refusals.get(candidate.sourceKind)
    const detail = refusal ?? refusedBy(candidate, filters, problems)
    if (detail !== undefined) considered.reject(candidate, "policy_filter", { detail: summarizeText(detail) })
    return detail === undefined
  })
  return { passed, problems }
}

function refusedBy(candidate: Candidate, filters: readonly PolicyFilter[], problems: Problem[]): string | undefined {
  for (const filter of filters) {
    try {
      const reason = filter.refuses({
        itemId: candidate.id,
        itemType: candidate.type,
        sourceRef: candidate.sourceRef,
        sourceKind: candidate.sourceKind,
        text: itemText(candidate.placed),
      })
      if (reason !== undefined) return `${filter.id}: ${reason}`
    } catch (error) {
      const subject = `policy:${filter.id}`
      const reason = `threw over ${candidate.id}: ${String(error)}`
      problems.push({ code: "policy_failed", severity: "error", subject, field: "", reason })
      // A filter that cannot say yes has not said yes.
      return `${filter.id}: failed`
    }
  }
  return undefined
}
