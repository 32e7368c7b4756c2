import type { Candidate } from "./candidate.js"
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
