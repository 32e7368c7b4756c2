import { type CatalogDefinition, defineStages, type RefusedSource, type StageCatalog } from "../stage.js"
import { AGENT_DECISION, CHAPTER_13, JSON_GENERIC, SIEVE_ANALYSIS } from "./grammars.js"
import { metricTrends } from "./metric-trends.js"
import { openIncidents } from "./open-incidents.js"
import { outcomeSummaries } from "./outcome-summaries.js"
import { PRESET_STAGES } from "./stages.js"

/** What the step-awareness specification excludes from every bundle, with its reasons. */
const REFUSED_SOURCES: readonly RefusedSource[] = [
  { kind: "raw_decision_logs", type: "memory", reason: "Too noisy, unbounded size" },
  { kind: "full_conversation_history", type: "memory", reason: "Not deterministic" },
  { kind: "vector_embeddings", type: "evidence", reason: "No vector DB in architecture" },
  { kind: "gpu_resident_state", type: "tool_output", reason: "Ephemeral, not reproducible" },
  { kind: "live_draw_outcomes", type: "evidence", reason: "Chapter 13 exclusive authority" },
]

/** The definition behind `stepAwarenessCatalog`: spread it, replace what is yours, and pass it to `defineStages`. */
export const STEP_AWARENESS_PRESET: CatalogDefinition = {
  name: "step-awareness",
  version: "1.0.0",
  grammars: {
    "agent_decision.gbnf": AGENT_DECISION,
    "sieve_analysis.gbnf": SIEVE_ANALYSIS,
    "chapter_13.gbnf": CHAPTER_13,
    "json_generic.gbnf": JSON_GENERIC,
  },
  contracts: ["contracts/controller_authority.md", "contracts/chapter_13_authority.md"],
  sources: [outcomeSummaries(), metricTrends(), openIncidents()],
  refusedSources: REFUSED_SOURCES,
  stages: PRESET_STAGES,
}

/** Steps 1–6 and 13, ready to use. */
export const stepAwarenessCatalog: StageCatalog = defineStages(STEP_AWARENESS_PRESET)
