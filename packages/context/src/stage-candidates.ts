import type { Candidate } from "./candidate.js"
import { oneLine } from "./sections.js"
import type { Stage } from "./stage.js"

/** Tier 0: what a stage brings to every one of its prompts. */
export function stageCandidates(stage: Stage): Candidate[] {
  const at = (part: string): Pick<Candidate, "id" | "type" | "sourceRef" | "reason"> => ({
    id: part,
    type: "policy",
    sourceRef: `catalog:${stage.catalog}#${stage.id}.${part}`,
    reason: "policy_requirement",
  })
  return [
    { ...at("mission"), placed: { section: "mission", value: stage.mission } },
    ...(stage.schemaExcerpt === ""
      ? []
      : [{ ...at("schema_excerpt"), placed: { section: "schema_excerpt", value: stage.schemaExcerpt } } as const]),
    ...(stage.grammar === null
      ? []
      : [{ ...at("grammar_name"), placed: { section: "grammar_name", value: stage.grammar.name } } as const]),
    ...stage.contracts.map(
      (value, index): Candidate => ({ ...at(`contracts.${index}`), placed: { section: "contracts", value } }),
    ),
    ...stage.guardrails.map(
      (value, index): Candidate => ({ ...at(`guardrails.${index}`), placed: { section: "guardrails", value } }),
    ),
  ]
}

/** What one call wants beyond what its stage says anyway. */
export function intentCandidates(
  stage: Stage,
  { objective, invariants }: { readonly objective: string; readonly invariants: readonly string[] },
): Candidate[] {
  const at = (part: string): Pick<Candidate, "id" | "type" | "sourceRef" | "reason"> => ({
    id: part,
    type: "policy",
    sourceRef: `intent:${part}`,
    reason: "plan_dependency",
  })
  const isNew = (text: string, said: readonly string[]): boolean => oneLine(text) !== "" && !said.includes(text)
  return [
    ...(isNew(objective, [stage.mission])
      ? [{ ...at("objective"), placed: { section: "objective", value: objective } } as const]
      : []),
    ...invariants.flatMap((value, index): Candidate[] =>
      isNew(value, stage.guardrails)
        ? [{ ...at(`invariants.${index}`), placed: { section: "invariants", value } }]
        : [],
    ),
  ]
}
