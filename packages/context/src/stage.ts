import { OrangeboxError, type Problem } from "@orangebox/contract"
import type { StageId } from "./bundle.js"
import { deepFreeze } from "./deep-freeze.js"
import type { ExcludedReason, ItemType } from "./generated.js"
import type { Placed } from "./sections.js"
import type { WorkspaceFiles } from "./workspace-files.js"

/** Everything a stage brings to its prompts whatever the run: the entry of a catalog. */
export interface StageDefinition {
  readonly id: StageId
  readonly name: string
  readonly mission: string
  /** What the answer has to look like, in words or as a schema. */
  readonly schemaExcerpt?: string
  /** `fallback` is used where the catalog has no grammar of that name. */
  readonly grammar?: { readonly name: string; readonly fallback?: string }
  readonly guardrails?: readonly string[]
  /** Default: the contracts of the catalog. */
  readonly contracts?: readonly string[]
  /** Which of a step's results are summarised, in this order. */
  readonly keyMetrics?: readonly string[]
  /** How a step's results are judged. Default: `success`, `confidence` and `interpretation` as the results give them. */
  readonly evaluate?: Evaluate
  /** It judges the others: it is shown the outcomes and incidents of every stage, not only its own. */
  readonly judgesAllStages?: boolean
}

export interface Evaluation {
  /** Null is unknown. */
  readonly success: boolean | null
  readonly confidence: number | null
  readonly interpretation: string
}

export type Evaluate = (
  results: Readonly<Record<string, unknown>>,
  about: { readonly stage: Stage; readonly runNumber: number },
) => Evaluation

/** A retrieval source of tier 2. What it reads goes through `files`, which keeps the provenance. */
export interface ContextSource {
  readonly id: string
  read(files: WorkspaceFiles, stage: Stage): SourceReading
}

export interface SourceReading {
  /** Best first. */
  readonly items: readonly SourceItem[]
  /** What the source saw and decided against. */
  readonly excluded: readonly SourceExclusion[]
  /** Bad files and lines: reported, never fatal. */
  readonly problems: readonly Problem[]
}

export interface SourceItem {
  readonly id: string
  readonly type: ItemType
  readonly sourceRef: string
  readonly placed: Extract<Placed, { section: "recent_outcomes" | "trend_summary" | "open_incidents" }>
}

export interface SourceExclusion {
  readonly id: string
  readonly type: ItemType
  readonly sourceRef: string
  readonly reason: ExcludedReason
}

/** A source that must never reach a prompt, and why. */
export interface RefusedSource {
  readonly kind: string
  readonly type: ItemType
  readonly reason: string
}

export interface CatalogDefinition {
  readonly name: string
  readonly version: string
  /** Grammar name → GBNF text. */
  readonly grammars?: Readonly<Record<string, string>>
  readonly contracts?: readonly string[]
  readonly sources?: readonly ContextSource[]
  readonly refusedSources?: readonly RefusedSource[]
  readonly stages: readonly StageDefinition[]
}

/** A stage of a catalog, complete: `compile` takes no other. */
export interface Stage {
  readonly id: StageId
  readonly name: string
  /** Where its texts are versioned, for source refs. */
  readonly catalog: string
  readonly mission: string
  readonly schemaExcerpt: string
  readonly grammar: Grammar | null
  readonly guardrails: readonly string[]
  readonly contracts: readonly string[]
  readonly keyMetrics: readonly string[]
  readonly evaluate: Evaluate | undefined
  readonly judgesAllStages: boolean
  readonly sources: readonly ContextSource[]
  readonly refusedSources: readonly RefusedSource[]
}

export interface Grammar {
  readonly name: string
  readonly text: string
  /** Set where this is the fallback: the grammar that is missing. */
  readonly standsInFor?: string
}

export interface StageCatalog {
  readonly name: string
  readonly version: string
  readonly stages: readonly Stage[]
  /** Throws for an id the catalog does not have. */
  stage(id: StageId): Stage
}

/**
 * A catalog of anyone's own stages.
 *
 * ```ts
 * const catalog = defineStages({
 *   name: "fixer", version: "1",
 *   stages: [{ id: "plan", name: "plan", mission: "Plan the fix.", guardrails: ["Touch no file."] }],
 * })
 * compile(catalog.stage("plan"), { runId, generatedAt, items })
 * ```
 */
export function defineStages(definition: CatalogDefinition): StageCatalog {
  const { name, version } = definition
  if (name === "" || version === "") throw wrong("name", "a catalog needs a name and a version")
  const byId = new Map<StageId, Stage>()
  for (const [index, stage] of definition.stages.entries()) {
    const field = `stages[${index}]`
    if (stage.id === "" || (typeof stage.id === "number" && !Number.isFinite(stage.id))) {
      throw wrong(`${field}.id`, "is not an id")
    }
    if (byId.has(stage.id)) throw wrong(`${field}.id`, `${shown(stage.id)} is there twice`)
    if (stage.mission.trim() === "") throw wrong(`${field}.mission`, "a stage without a mission has no tier 0")
    byId.set(stage.id, complete(stage, definition, field))
  }
  const stages = Object.freeze([...byId.values()])
  return Object.freeze({
    name,
    version,
    stages,
    stage(id: StageId) {
      const found = byId.get(id)
      if (found) return found
      throw new OrangeboxError("CONTEXT_STAGE", {
        what: `the catalog ${name} has no stage ${shown(id)}`,
        where: "stepId",
        next: `It has ${[...byId.keys()].map(shown).join(", ")}`,
      })
    },
  })
}

function complete(stage: StageDefinition, catalog: CatalogDefinition, field: string): Stage {
  const texts = deepFreeze({
    id: stage.id,
    name: stage.name,
    catalog: `${catalog.name}@${catalog.version}`,
    mission: stage.mission,
    schemaExcerpt: stage.schemaExcerpt ?? "",
    grammar: grammarOf(stage, catalog, field),
    guardrails: [...(stage.guardrails ?? [])],
    contracts: [...(stage.contracts ?? catalog.contracts ?? [])],
    keyMetrics: [...(stage.keyMetrics ?? [])],
    evaluate: stage.evaluate,
    judgesAllStages: stage.judgesAllStages ?? false,
    refusedSources: (catalog.refusedSources ?? []).map(({ kind, type, reason }) => ({ kind, type, reason })),
  })
  // The sources themselves are the caller's and may have state of their own.
  return Object.freeze({ ...texts, sources: Object.freeze([...(catalog.sources ?? [])]) })
}

function grammarOf(stage: StageDefinition, catalog: CatalogDefinition, field: string): Grammar | null {
  if (!stage.grammar) return null
  const { name, fallback } = stage.grammar
  const textOf = (grammar: string): string | undefined =>
    catalog.grammars && Object.hasOwn(catalog.grammars, grammar) ? catalog.grammars[grammar] : undefined
  const text = textOf(name)
  if (text !== undefined) return { name, text }
  const standIn = fallback === undefined ? undefined : textOf(fallback)
  if (fallback !== undefined && standIn !== undefined) return { name: fallback, text: standIn, standsInFor: name }
  throw new OrangeboxError("CONTEXT_GRAMMAR", {
    what: `grammar ${name} of stage ${shown(stage.id)} is missing, and ${
      fallback === undefined ? "it has no fallback" : `so is its fallback ${fallback}`
    }`,
    where: `${field}.grammar`,
    next: "Add its text to the grammars of the catalog",
  })
}

const shown = (id: StageId): string => (typeof id === "number" ? String(id) : JSON.stringify(id))

const wrong = (field: string, why: string): OrangeboxError =>
  new OrangeboxError("CONTEXT_CATALOG", { what: `${field}: ${why}`, where: field })
