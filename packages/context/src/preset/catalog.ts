import { metricTrends } from "../sources/metric-trends.js"
import { openIncidents } from "../sources/open-incidents.js"
import { outcomeSummaries } from "../sources/outcome-summaries.js"
import { type CatalogDefinition, defineStages, type StageCatalog } from "../stage.js"
import { AGENT_DECISION } from "./grammars/agent-decision.js"
import { CHAPTER_13 } from "./grammars/chapter-13.js"
import { JSON_GENERIC } from "./grammars/json-generic.js"
import { SIEVE_ANALYSIS } from "./grammars/sieve-analysis.js"
import { REFUSED_SOURCES } from "./refused-sources.js"
import { PRESET_STAGES } from "./stages.js"

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
