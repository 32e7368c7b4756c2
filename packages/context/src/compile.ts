import { canonicalJson, OrangeboxError, type Problem, type Segment, segmentKindOf } from "@orangebox/contract"
import { allocate } from "./allocate.js"
import { applyPolicies, type PolicyFilter } from "./apply-policies.js"
import { buildManifest } from "./build-manifest.js"
import type { StageId, StepAwarenessBundle } from "./bundle.js"
import { type Candidate, Considered } from "./candidate.js"
import { chunkCandidates } from "./chunk-candidates.js"
import { deepFreeze } from "./deep-freeze.js"
import { type ContextFault, contextFault } from "./faults/fault.js"
import { type ContextManifest, ItemType } from "./generated.js"
import { resultCandidates } from "./result-candidates.js"
import { type Reranker, scoreShareReranker } from "./retrieval/reranker.js"
import type { Retriever } from "./retrieval/retriever.js"
import { contextOf } from "./sections.js"
import { sourceCandidates } from "./source-candidates.js"
import type { Stage } from "./stage.js"
import { intentCandidates, stageCandidates } from "./stage-candidates.js"
import { type TokenBudget, type TokenBudgetOptions, tokenBudget } from "./token-budget.js"
import { checkedCounter, estimateCounter, type TokenCounter } from "./token-counter.js"
import { BUNDLE_VERSION } from "./version.js"
import {
  type FileReader,
  type ProvenanceRecord,
  type SourcePath,
  WorkspaceFiles,
  workspacePath,
} from "./workspace-files.js"

/** Everything a context depends on. Equal inputs over equal files give an equal prompt, in any process. */
export interface CompileInputs {
  readonly runId: string
  /** UTC time that is written into the bundle, and nowhere else. */
  readonly generatedAt: string
  /** The recorded step the context is for. Default: the stage's id. */
  readonly stepId?: string
  /** The evaluated stage where it is not the compiling one. */
  readonly bundleStepId?: StageId
  /** Needed as soon as anything is read from files. */
  readonly reader?: FileReader
  /** What is wanted and must hold in this call. Default: the mission and the guardrails of the stage; what differs from them enters the prompt. */
  readonly objective?: string
  readonly invariants?: readonly string[]
  /** The output of the step that is to be judged. */
  readonly results?: Readonly<Record<string, unknown>>
  readonly runNumber?: number
  /** The agent manifest's path, for provenance. */
  readonly manifestPath?: SourcePath
  /** More files the context depends on, for provenance. */
  readonly statePaths?: readonly SourcePath[]
  /** User input, tool outputs and the like, most important first: tier 1. */
  readonly items?: readonly InputItem[]
  /** What retrievers are asked. Default: the objective. */
  readonly query?: string
  readonly retrievers?: readonly Retriever[]
  readonly reranker?: Reranker
  /** Chunks that score lower are left out. */
  readonly minScore?: number
  readonly policies?: readonly PolicyFilter[]
  readonly counter?: TokenCounter
  readonly budgets?: TokenBudgetOptions | TokenBudget
  /** Names the state of the sources, where something else keeps track of it. Default: a digest of all that was seen. */
  readonly snapshotId?: string
}

export interface InputItem {
  readonly id: string
  readonly type: ItemType
  readonly text: string
  /** Pointer to the origin: `sourceRef` of a tool call, `file:notes/a.md`, or one of your own. */
  readonly sourceRef: string
  /** Heads the text in the prompt. Default: the type in words; never the id, which may be generated. */
  readonly title?: string
  readonly sourceKind?: string
}

export interface CompiledContext {
  readonly bundle: StepAwarenessBundle
  readonly prompt: string
  readonly grammarName: string | null
  readonly manifest: ContextManifest
  /** The prompt as a list of what it is made of, in order: what `prompt_assembled` says. */
  readonly segments: readonly CompiledSegment[]
  /** Every body the manifest points at, by hash. */
  readonly bodies: ReadonlyMap<string, Uint8Array>
  /** What a recorder has to treat as faults: critical sources that are not there. */
  readonly faults: readonly ContextFault[]
  /** What was wrong with files, lines, retrievers and filters; none of it stopped the assembly. */
  readonly problems: readonly Problem[]
}

export interface CompiledSegment {
  readonly contributor: string
  readonly kind: Segment["kind"]
  readonly length: number
  readonly tokens: number
  readonly ref: string
}

/**
 * The context of one step: what the model sees, why, and what it does not see. Pure but for the reader it is handed; writing the manifest
 * is the recorder's job. Throws for what no prompt can be made from; there are no half-built ones.
 */
export function compile(stage: Stage, inputs: CompileInputs): CompiledContext {
  check(inputs)
  const budget = tokenBudget(inputs.budgets)
  const counter = checkedCounter(inputs.counter ?? estimateCounter)
  const reranker = inputs.reranker ?? scoreShareReranker
  const retrievers = inputs.retrievers ?? []
  const runNumber = inputs.runNumber ?? 1
  const objective = (inputs.objective ?? stage.mission).toWellFormed()
  const invariants = (inputs.invariants ?? stage.guardrails).map((text) => text.toWellFormed())
  const query = (inputs.query ?? objective).toWellFormed()

  const considered = new Considered()
  const files = new WorkspaceFiles(inputs.reader)
  const faults = readDependencies(inputs, files)

  const tier0 = [...stageCandidates(stage), ...intentCandidates(stage, { objective, invariants })].map((candidate) => ({
    ...candidate,
    id: considered.admit(candidate.id),
  }))
  const results = inputs.results
    ? resultCandidates(stage, inputs.results, runNumber, considered)
    : { candidates: [], problems: [] }
  const items = (inputs.items ?? []).map((item) => itemCandidate(item, considered))
  const sources = sourceCandidates(stage, files, considered)
  const minScore = inputs.minScore ?? Number.NEGATIVE_INFINITY
  const chunks = chunkCandidates(stage, query, { retrievers, reranker, minScore }, considered)

  // Within a share this is the order of priority; curated outcomes come before retrieved evidence.
  const all = [...tier0, ...results.candidates, ...items, ...sources.candidates, ...chunks.candidates]
  const policed = applyPolicies(stage, all, inputs.policies ?? [], considered)
  const allocation = allocate(policed.passed, budget, counter, considered)

  const grammarName = stage.grammar?.name ?? null
  const provenance = withChunkFiles(
    files.provenance,
    allocation.included.map(({ candidate }) => candidate),
  )
  const bundle: StepAwarenessBundle = deepFreeze({
    bundle_version: BUNDLE_VERSION,
    step_id: inputs.bundleStepId ?? stage.id,
    step_name: stage.name,
    run_id: inputs.runId,
    is_chapter_13: stage.judgesAllStages,
    context: contextOf(allocation.included.map(({ placed }) => placed)),
    budgets: budget,
    provenance,
    generated_at: inputs.generatedAt,
  })
  const { manifest, bodies } = buildManifest({
    stage,
    runId: inputs.runId,
    stepId: inputs.stepId ?? String(bundle.step_id),
    stageId: bundle.step_id,
    snapshotId: inputs.snapshotId,
    intent: { objective, invariants },
    query: retrievers.length === 0 && inputs.query === undefined ? null : query,
    retrievers,
    reranker,
    scores: chunks.scores,
    budget,
    counter,
    allocation,
    considered,
    provenance,
    faults,
  })
  return {
    bundle,
    prompt: allocation.prompt,
    grammarName,
    manifest,
    segments: manifest.inclusion_log.map((item) => ({
      contributor: item.item_id.slice(0, LONGEST_CONTRIBUTOR),
      kind: segmentKindOf(item.item_type),
      length: bodies.get(item.rendered_ref)?.length ?? 0,
      tokens: item.tokens,
      ref: item.rendered_ref,
    })),
    bodies,
    faults,
    problems: [...files.problems, ...results.problems, ...sources.problems, ...chunks.problems, ...policed.problems],
  }
}

const LONGEST_CONTRIBUTOR = 512

/** Hashes the files the context is said to depend on. Only one that is both missing and critical is a fault. */
function readDependencies(inputs: CompileInputs, files: WorkspaceFiles): ContextFault[] {
  const dependencies = [
    ...(inputs.manifestPath === undefined ? [] : [{ source: inputs.manifestPath, field: "manifestPath" }]),
    ...(inputs.statePaths ?? []).map((source, index) => ({ source, field: `statePaths[${index}]` })),
  ]
  return dependencies.flatMap(({ source, field }) => {
    const { path: given, isCritical = false } = typeof source === "string" ? { path: source } : source
    const path = workspacePath(given, field)
    if (files.read(path) !== undefined || !isCritical) return []
    return [contextFault("missing_pointer", `critical source ${path} cannot be resolved`, [path])]
  })
}

function itemCandidate(item: InputItem, considered: Considered): Candidate {
  return {
    id: considered.admit(item.id),
    type: item.type,
    sourceRef: item.sourceRef,
    sourceKind: item.sourceKind,
    reason: "plan_dependency",
    placed: { section: "inputs", value: { title: item.title ?? item.type.replace("_", " "), text: item.text } },
  }
}

/** Files behind retrieved chunks count as sources where a chunk of theirs is used. */
function withChunkFiles(records: readonly ProvenanceRecord[], included: readonly Candidate[]): ProvenanceRecord[] {
  const byPath = new Map(records.map((record) => [record.path, record]))
  for (const { provenance } of included) {
    if (provenance && !byPath.has(provenance.path)) byPath.set(provenance.path, { ...provenance })
  }
  return [...byPath.values()]
}

function check(inputs: CompileInputs): void {
  for (const field of ["runId", "stepId", "snapshotId"] as const) {
    const id = field === "runId" ? inputs.runId : (inputs[field] ?? "default")
    if (typeof id !== "string" || id === "" || id.length > 512) throw wrong(field, "is an id of 1 to 512 characters")
  }
  if (Number.isNaN(Date.parse(inputs.generatedAt))) throw wrong("generatedAt", "is not a time")
  const { runNumber = 1, minScore = 0, results, items = [] } = inputs
  if (!Number.isSafeInteger(runNumber) || runNumber < 1) throw wrong("runNumber", "counts from 1")
  if (Number.isNaN(minScore)) throw wrong("minScore", "is not a number")
  if (results !== undefined && (typeof results !== "object" || results === null || Array.isArray(results))) {
    throw wrong("results", "is an object of named results")
  }
  const ids = new Set<string>()
  for (const [index, item] of items.entries()) {
    const field = `items[${index}]`
    if (typeof item.id !== "string" || item.id === "") throw wrong(`${field}.id`, "is missing")
    if (!ItemType.safeParse(item.type).success)
      throw wrong(`${field}.type`, `is none of ${ItemType.options.join(", ")}`)
    if (typeof item.text !== "string") throw wrong(`${field}.text`, "is not text")
    if (typeof item.sourceRef !== "string" || item.sourceRef === "") {
      throw wrong(`${field}.sourceRef`, "every item traces to its source")
    }
    if (ids.has(item.id)) throw wrong(`${field}.id`, `${canonicalJson(item.id)} is there twice`)
    ids.add(item.id)
  }
}

const wrong = (field: string, why: string): OrangeboxError =>
  new OrangeboxError("CONTEXT_INPUT", { what: `${field}: ${why}`, where: field })
