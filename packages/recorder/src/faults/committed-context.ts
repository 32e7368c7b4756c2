import {
  type ArtifactRef,
  type BodyHash,
  bodyHash,
  type FaultTrigger,
  OrangeboxError,
  type Segment,
} from "@orangebox/contract"
import type { RenderedText } from "@orangebox/dialects"
import { BodiesOfEvent } from "../bodies-of-event.js"
import type { Capture } from "../capture/capture.js"
import type { StepHandle, StepState } from "../step-handle.js"
import { isWithin, nearest } from "../step-tree.js"
import type { EvidenceItem } from "./evidence.js"
import type { RaisedFault, SnapshotArtifact } from "./raise-fault.js"

/** What a context compiler hands over. `compile` of `@orangebox/context` gives one; anything of this shape will do. */
export interface CompiledPrompt {
  readonly prompt: string
  readonly manifest: ManifestOfContext
  readonly segments: readonly {
    readonly contributor: string
    readonly kind: Segment["kind"]
    readonly length: number
    readonly tokens?: number
    readonly ref: string
  }[]
  /** Every body the manifest points at, by hash. */
  readonly bodies: ReadonlyMap<string, Uint8Array>
  readonly faults?: readonly RaisedFault[]
}

/** The fields of a manifest the recorder reads or fills in; all others are kept as they are. */
export interface ManifestOfContext {
  readonly snapshot_id: string
  readonly intent: { readonly objective: string; readonly invariants: readonly string[] }
  readonly intent_ref: string
  readonly retrieval_query: string | null
  readonly retrieval_query_ref: string | null
  readonly retrievers: readonly { readonly id: string; readonly version: string }[]
  readonly candidate_chunk_ids: readonly { readonly chunk_id: string; readonly score: number }[]
  readonly selected_chunk_ids: readonly string[]
  readonly prefix_hash: string
  readonly prefix_length: number
  readonly prompt_hash: string
  readonly token_budget: { readonly ctx_max_tokens: number }
  readonly inclusion_log: readonly {
    readonly item_id: string
    readonly source_ref: string
    readonly rendered_ref: string
    readonly source_hash: string
    readonly title?: string | undefined
  }[]
  readonly exclusion_log: readonly {
    readonly item_id: string
    readonly source_ref: string
    readonly detail?: string | undefined
  }[]
  readonly provenance: readonly { readonly path: string }[]
  readonly faults: readonly object[]
}

/** The manifest of a step as it was committed, for the revisions a fault adds. */
export interface CommittedManifest {
  readonly manifest: Pick<ManifestOfContext, "snapshot_id" | "faults"> & { readonly [field: string]: unknown }
  readonly revision: number
  readonly counts: { readonly included_count: number; readonly excluded_count: number }
  readonly prefix: { readonly prefix_hash: string | null; readonly prefix_length: number | null }
  /** The prompt that was compiled; null where the manifest was read off the request itself. */
  readonly rendered: RenderedText | null
  /** Whether a model was asked with it: then it says nothing about the next call. */
  isTaken: boolean
  /** The request on the wire that it was taken for: a client that sends the same bytes again makes the same call again. */
  takenFor?: BodyHash
}

/**
 * Says what is in a step's context, why, and what is not, before the model is asked. The manifest is the last word and durable: only when it
 * is written may the request leave.
 */
export function commitContext(step: StepHandle, state: StepState, compiled: CompiledPrompt): void {
  const { run } = step
  run.assertMayGoOn()
  const refusal = refusalOf(step, state, compiled)
  if (refusal !== undefined) {
    if (run.app.keeping.audit === "required") throw refusal
    step.log.error("a context could not be recorded", { err: refusal })
    return
  }
  const { manifest } = compiled
  const stored = storeBodies(step, compiled)
  emitRetrieval(step, manifest)
  emitAssembly(step, compiled, stored)
  step.promptRendered({ prompt: compiled.prompt, templateId: "context-compiler", templateVersion: versionOf(manifest) })
  const committed: CommittedManifest = {
    manifest: capturedManifest(step, manifest, stored),
    revision: 0,
    counts: { included_count: manifest.inclusion_log.length, excluded_count: manifest.exclusion_log.length },
    prefix: { prefix_hash: stored.prefixHash, prefix_length: stored.prefixLength },
    rendered: { prompt: compiled.prompt, prefixLength: manifest.prefix_length },
    isTaken: false,
  }
  run.manifests.set(state, committed)
  recordManifest(step, committed)
  for (const fault of compiled.faults ?? []) step.fault(fault)
}

function refusalOf(step: StepHandle, state: StepState, compiled: CompiledPrompt): OrangeboxError | undefined {
  const where = `${step.runId} step ${step.id}`
  if (step.run.manifests.get(state)?.isTaken === false) {
    return new OrangeboxError("CONTEXT_TWICE", {
      what: "this step has its context already, and no model was asked with it; a call has exactly one",
      where,
      next: "Open a step for each call that has a context of its own",
    })
  }
  const field = firstWrong(compiled)
  if (field === undefined) return undefined
  return new OrangeboxError("CONTEXT", {
    what: `step.context was given something else than a compiled context: ${field} is not there`,
    where,
    next: "Give it what compile() of @orangebox/context returns",
  })
}

/** The first part of a compiled context that is not what it should be. */
function firstWrong(compiled: unknown): string | undefined {
  const { prompt, segments, bodies, manifest } = (compiled ?? {}) as Partial<Record<keyof CompiledPrompt, unknown>>
  if (typeof prompt !== "string") return "prompt"
  if (!Array.isArray(segments)) return "segments"
  if (!(bodies instanceof Map)) return "bodies"
  const { intent, ...lists } = (manifest ?? {}) as Partial<Record<keyof ManifestOfContext, unknown>>
  if (typeof (intent as { objective?: unknown } | undefined)?.objective !== "string") return "manifest.intent"
  const missing = LISTS.find((name) => !Array.isArray(lists[name]))
  return missing === undefined ? undefined : `manifest.${missing}`
}

const LISTS = [
  "retrievers",
  "candidate_chunk_ids",
  "selected_chunk_ids",
  "inclusion_log",
  "exclusion_log",
  "provenance",
] as const

/** A fault appends a revision: what the manifest said, and the fault with what was stored because of it. */
export function reviseManifests(
  step: StepHandle,
  scope: StepState,
  evidence: readonly EvidenceItem[],
  fault: ManifestFault,
): void {
  const { manifests } = step.run
  for (const state of manifestsConcerned([...manifests.keys()], scope, evidence)) {
    const before = manifests.get(state)!
    const revision = before.revision + 1
    const manifest = { ...before.manifest, revision, faults: [...before.manifest.faults, fault] }
    const revised = { ...before, manifest, revision }
    manifests.set(state, revised)
    recordManifest(step, revised)
  }
}

/** The manifests below the step where it happened; where there are none, the one the step works under; else those of what was stored. */
function manifestsConcerned(
  withManifest: readonly StepState[],
  scope: StepState,
  evidence: readonly EvidenceItem[],
): readonly StepState[] {
  const below = withManifest.filter((state) => isWithin(state, scope))
  if (below.length > 0) return below
  const above = nearest(scope, (state) => withManifest.includes(state))
  if (above !== undefined) return [above]
  return withManifest.filter((state) => evidence.some((item) => isWithin(item.step, state)))
}

interface ManifestFault {
  readonly trigger: FaultTrigger
  readonly detail: string
  readonly missing: readonly string[]
  readonly artifacts: readonly SnapshotArtifact[]
}

export function recordManifest(step: StepHandle, committed: CommittedManifest, inferredBy?: string): void {
  const bodies = new BodiesOfEvent(step.run.builder, "context_manifest")
  const manifest_ref = bodies.refAs("manifest", JSON.stringify(committed.manifest), "application/json")
  const { counts, prefix, revision } = committed
  step.record(
    "context_manifest",
    { manifest_ref, snapshot_id: committed.manifest.snapshot_id, revision, ...counts, ...prefix },
    { ...bodies.extras(), inferredBy },
  )
}

/** The bodies of the manifest as they are captured: under which hash each is stored, and what the prompt made of them is. */
interface StoredBodies {
  readonly hashes: ReadonlyMap<string, BodyHash>
  readonly changed: ReadonlySet<string>
  readonly promptHash: BodyHash
  readonly prefixHash: string
  readonly prefixLength: number
  readonly refs: readonly ArtifactRef[]
  readonly bodies: BodiesOfEvent["bodies"]
  readonly redaction: BodiesOfEvent["redaction"]
}

function storeBodies(step: StepHandle, compiled: CompiledPrompt): StoredBodies {
  const { builder } = step.run
  const bodies = new BodiesOfEvent(builder, "prompt_assembled")
  const hashes = new Map<string, BodyHash>()
  const changed = new Set<string>()
  const texts = new Map<string, Uint8Array>()
  for (const [ref, bytes] of compiled.bodies) {
    const added = bodies.addAs("segment", bytes, "text/plain; charset=utf-8")
    hashes.set(ref, added.hash)
    texts.set(ref, added.isAsGiven ? bytes : (added.stored() ?? bytes))
    if (!added.isAsGiven) changed.add(ref)
  }
  const { manifest } = compiled
  if (changed.size === 0) {
    const { prefix_hash: prefixHash, prefix_length: prefixLength } = manifest
    return {
      hashes,
      changed,
      promptHash: manifest.prompt_hash as BodyHash,
      prefixHash,
      prefixLength,
      ...bodies.extras(),
    }
  }
  // The whole is what its stored parts make: so it can still be put together from them and proven.
  const parts = manifest.inclusion_log.map((item) => texts.get(item.rendered_ref) ?? new Uint8Array())
  const prefix = Buffer.concat(parts.slice(0, prefixCount(compiled)))
  const { capture } = builder
  const digestOf = (bytes: Uint8Array): BodyHash => capture.digest(bodyHash(bytes))
  return {
    hashes,
    changed,
    promptHash: digestOf(Buffer.concat(parts)),
    prefixHash: digestOf(prefix),
    prefixLength: prefix.length,
    ...bodies.extras(),
  }
}

/** How many of the first items make the prefix, by their size before anything was masked in them. */
function prefixCount({ manifest, bodies }: CompiledPrompt): number {
  let left = manifest.prefix_length
  const count = manifest.inclusion_log.findIndex(({ rendered_ref }) => {
    left -= bodies.get(rendered_ref)?.length ?? 0
    return left < 0
  })
  return count === -1 ? manifest.inclusion_log.length : count
}

function capturedManifest(
  step: StepHandle,
  manifest: ManifestOfContext,
  stored: StoredBodies,
): CommittedManifest["manifest"] {
  const { capture } = step
  const hash = (ref: string): string => stored.hashes.get(ref) ?? capture.digest(ref)
  const words = wordsFor(capture)
  return {
    ...manifest,
    run_id: step.runId,
    step_id: step.id,
    intent: { objective: words(manifest.intent.objective), invariants: manifest.intent.invariants.map(words) },
    intent_ref: hash(manifest.intent_ref),
    retrieval_query: manifest.retrieval_query === null ? null : words(manifest.retrieval_query),
    retrieval_query_ref: manifest.retrieval_query_ref === null ? null : hash(manifest.retrieval_query_ref),
    candidate_chunk_ids: manifest.candidate_chunk_ids.map((chunk) => ({ ...chunk, chunk_id: words(chunk.chunk_id) })),
    selected_chunk_ids: manifest.selected_chunk_ids.map(words),
    prefix_hash: stored.prefixHash,
    prefix_length: stored.prefixLength,
    prompt_hash: stored.promptHash,
    inclusion_log: manifest.inclusion_log.map((item) => ({
      ...item,
      item_id: words(item.item_id),
      source_ref: words(item.source_ref),
      rendered_ref: hash(item.rendered_ref),
      // A hash of the text as it was would confirm a guess at a short secret.
      source_hash: stored.changed.has(item.rendered_ref) ? capture.keyed(item.source_hash) : item.source_hash,
      ...(item.title === undefined ? {} : { title: words(item.title) }),
      ...(stored.changed.has(item.rendered_ref) && capture.mode !== "hashed" ? { is_masked: true } : {}),
    })),
    exclusion_log: manifest.exclusion_log.map((item) => ({
      ...item,
      item_id: words(item.item_id),
      source_ref: words(item.source_ref),
      ...(item.detail === undefined ? {} : { detail: words(item.detail) }),
    })),
    provenance: manifest.provenance.map((file) => ({ ...file, path: words(file.path) })),
    faults: [],
  }
}

const wordsFor =
  (capture: Capture) =>
  (text: string): string =>
    capture.mode === "hashed" ? capture.digestWord(text) : capture.searched(text)

function emitRetrieval(step: StepHandle, manifest: ManifestOfContext): void {
  if (manifest.retrievers.length === 0 || manifest.retrieval_query === null) return
  step.retrieved(
    {
      retriever: manifest.retrievers.map(({ id }) => id).join("+"),
      version: manifest.retrievers.map(({ version }) => version).join("+"),
      query: manifest.retrieval_query,
    },
    manifest.candidate_chunk_ids.map(({ chunk_id, score }) => ({ chunkId: chunk_id, score })),
  )
}

function emitAssembly(step: StepHandle, compiled: CompiledPrompt, stored: StoredBodies): void {
  const words = wordsFor(step.capture)
  const segments = compiled.segments.map(({ contributor, kind, length, tokens, ref }): Segment => {
    const content_ref = stored.hashes.get(ref)
    return {
      contributor: words(contributor),
      kind,
      role: null,
      length,
      ...(tokens === undefined ? {} : { tokens }),
      ...(content_ref === undefined ? {} : { content_ref, segment_hash: content_ref }),
    }
  })
  step.emit(
    "prompt_assembled",
    {
      segments,
      total_length: segments.reduce((sum, { length }) => sum + length, 0),
      token_budget: compiled.manifest.token_budget.ctx_max_tokens,
      excluded_count: compiled.manifest.exclusion_log.length,
    },
    { refs: stored.refs, bodies: stored.bodies, redaction: stored.redaction },
  )
}

const versionOf = (manifest: object): string =>
  String((manifest as { compiler_version?: unknown }).compiler_version ?? "")
