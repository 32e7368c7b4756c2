import {
  type ArtifactRef,
  type BodyHash,
  bodyHash,
  type FaultTrigger,
  OrangeboxError,
  type Segment,
} from "@orangebox/contract"
import type { ExpectedPrompt } from "@orangebox/dialects"
import { BodiesOfEvent } from "../bodies-of-event.js"
import type { Capture } from "../capture/capture.js"
import type { StepHandle, StepState } from "../step-handle.js"
import { isWithin, nearest } from "../step-tree.js"
import type { EvidenceItem } from "./evidence.js"
import type { RaisedFault, SnapshotArtifact } from "./raise-fault.js"
import { contextOfTold, isTold, type ToldContext, unknownInTold, wrongInTold } from "./told-context.js"

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

/** A context as it is committed, compiled or told. */
export interface AssembledContext extends Omit<CompiledPrompt, "prompt"> {
  /** What was rendered; undefined where only the parts of it are known. */
  readonly prompt: unknown
  readonly template: { readonly id: string | null; readonly version: string | null }
  /** What the call is then expected to be asked. */
  readonly expected: ExpectedPrompt
}

/** The fields of a manifest the recorder reads or fills in; all others are kept as they are. What its maker does not know is null. */
export interface ManifestOfContext {
  readonly [field: string]: unknown
  readonly snapshot_id: string
  readonly intent: { readonly objective: string; readonly invariants: readonly string[] } | null
  readonly intent_ref: string | null
  readonly retrieval_query: string | null
  readonly retrieval_query_ref: string | null
  readonly retrievers: readonly { readonly id: string; readonly version: string }[] | null
  readonly candidate_chunk_ids: readonly { readonly chunk_id: string; readonly score: number }[] | null
  readonly selected_chunk_ids: readonly string[] | null
  readonly prefix_hash: string | null
  readonly prefix_length: number | null
  readonly prompt_hash: string | null
  readonly token_budget: { readonly ctx_max_tokens: number; readonly prompt_tokens?: number | null } | null
  readonly inclusion_log: readonly {
    readonly item_id: string
    readonly source_ref: string | null
    readonly rendered_ref: string
    readonly source_hash: string
    readonly title?: string | undefined
  }[]
  readonly exclusion_log:
    | readonly {
        readonly item_id: string
        readonly source_ref: string | null
        readonly detail?: string | undefined
      }[]
    | null
  readonly provenance: readonly { readonly path: string }[]
  readonly faults: readonly object[]
}

/** The manifest of a step as it was committed, for the revisions a fault adds. */
export interface CommittedManifest {
  readonly manifest: Pick<ManifestOfContext, "snapshot_id" | "faults"> & { readonly [field: string]: unknown }
  readonly revision: number
  readonly counts: { readonly included_count: number | null; readonly excluded_count: number | null }
  readonly prefix: { readonly prefix_hash: string | null; readonly prefix_length: number | null }
  /** The prompt that was compiled or told; null where the manifest was read off the request itself. */
  readonly expected: ExpectedPrompt | null
  /** Whether a model was asked with it: then it says nothing about the next call. */
  isTaken: boolean
  /** The request on the wire that it was taken for: a client that sends the same bytes again makes the same call again. */
  takenFor?: BodyHash
  /** What that request was made of: one that goes on from it is another call of the same loop. */
  takenParts?: readonly string[]
}

/**
 * Says what is in a step's context, why, and what is not, before the model is asked. The manifest is the last word and durable: only when it
 * is written may the request leave.
 */
export function commitContext(step: StepHandle, state: StepState, given: CompiledPrompt | ToldContext): void {
  const { run } = step
  run.assertMayGoOn()
  const read = readGiven(step, state, given)
  if (read instanceof OrangeboxError) {
    if (run.app.keeping.audit === "required") throw read
    run.builder.warn(read)
    step.log.error("a context could not be recorded", { err: read, context_refused: true })
    return
  }
  const { manifest } = read
  const stored = storeBodies(step, read)
  emitRetrieval(step, manifest)
  emitAssembly(step, read, stored)
  const renderedRef = emitRendered(step, read)
  const committed: CommittedManifest = {
    manifest: {
      ...capturedManifest(step, manifest, stored),
      ...(Object.hasOwn(manifest, "request_ref") ? { request_ref: renderedRef } : {}),
    },
    revision: 0,
    counts: {
      included_count: manifest.inclusion_log.length,
      excluded_count: manifest.exclusion_log?.length ?? null,
    },
    prefix: { prefix_hash: stored.prefixHash, prefix_length: stored.prefixLength },
    expected: read.expected,
    isTaken: false,
  }
  run.manifests.set(state, committed)
  recordManifest(step, committed)
  for (const fault of read.faults ?? []) step.fault(fault)
}

/** What was given, in the one form that is committed, or why it cannot be. Whatever an application hands over, reading it throws nothing else. */
function readGiven(
  step: StepHandle,
  state: StepState,
  given: CompiledPrompt | ToldContext,
): AssembledContext | OrangeboxError {
  try {
    const refusal = refusalOf(step, state, given)
    if (refusal !== undefined) return refusal
    if (!isTold(given)) return contextOfCompiled(given)
    const unknown = unknownInTold(given)
    if (unknown !== undefined)
      step.run.builder.warn(
        new OrangeboxError("CONTEXT", { what: `step.context does not record ${unknown}`, next: "Correct its name" }),
      )
    return contextOfTold(given)
  } catch (cause) {
    return notAContext(step, `it cannot be read (${cause instanceof Error ? cause.name : typeof cause})`)
  }
}

function contextOfCompiled(compiled: CompiledPrompt): AssembledContext {
  const { manifest, prompt } = compiled
  const { token_budget = null, prefix_length = null, prefix_hash = null, prompt_hash = null } = manifest
  return {
    ...compiled,
    manifest: { ...manifest, token_budget, prefix_length, prefix_hash, prompt_hash },
    expected: { prompt, prefixLength: prefix_length },
    template: { id: "context-compiler", version: String(manifest["compiler_version"] ?? "") },
  }
}

function refusalOf(
  step: StepHandle,
  state: StepState,
  given: CompiledPrompt | ToldContext,
): OrangeboxError | undefined {
  const where = `${step.runId} step ${step.id}`
  if (step.run.manifests.get(state)?.isTaken === false) {
    return new OrangeboxError("CONTEXT_TWICE", {
      what: "this step has its context already, and no model was asked with it; a call has exactly one",
      where,
      next: "Open a step for each call that has a context of its own",
    })
  }
  if (isTold(given)) {
    const wrong = wrongInTold(given)
    return wrong === undefined ? undefined : notAContext(step, wrong)
  }
  const field = firstWrong(given)
  return field === undefined ? undefined : notAContext(step, `${field} is not there`)
}

const notAContext = (step: StepHandle, why: string): OrangeboxError =>
  new OrangeboxError("CONTEXT", {
    what: `step.context was given something else than a context: ${why}`,
    where: `${step.runId} step ${step.id}`,
    next: "Give it what compile() of @orangebox/context returns, or { items, excluded, request }",
  })

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
  readonly promptHash: string | null
  readonly prefixHash: string | null
  readonly prefixLength: number | null
  readonly refs: readonly ArtifactRef[]
  readonly bodies: BodiesOfEvent["bodies"]
  readonly redaction: BodiesOfEvent["redaction"]
}

function storeBodies(step: StepHandle, compiled: AssembledContext): StoredBodies {
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
  const { prompt_hash: promptHash, prefix_hash: prefixHash, prefix_length: prefixLength } = manifest
  if (changed.size === 0 || promptHash === null || prefixLength === null) {
    return { hashes, changed, promptHash, prefixHash, prefixLength, ...bodies.extras() }
  }
  // The whole is what its stored parts make: so it can still be put together from them and proven.
  const parts = manifest.inclusion_log.map((item) => texts.get(item.rendered_ref) ?? new Uint8Array())
  const prefix = Buffer.concat(parts.slice(0, prefixCount(compiled, prefixLength)))
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
function prefixCount({ manifest, bodies }: AssembledContext, prefixLength: number): number {
  let left = prefixLength
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
    intent: manifest.intent && {
      objective: words(manifest.intent.objective),
      invariants: manifest.intent.invariants.map(words),
    },
    intent_ref: manifest.intent_ref === null ? null : hash(manifest.intent_ref),
    retrieval_query: manifest.retrieval_query === null ? null : words(manifest.retrieval_query),
    retrieval_query_ref: manifest.retrieval_query_ref === null ? null : hash(manifest.retrieval_query_ref),
    candidate_chunk_ids:
      manifest.candidate_chunk_ids?.map((chunk) => ({ ...chunk, chunk_id: words(chunk.chunk_id) })) ?? null,
    selected_chunk_ids: manifest.selected_chunk_ids?.map(words) ?? null,
    prefix_hash: stored.prefixHash,
    prefix_length: stored.prefixLength,
    prompt_hash: stored.promptHash,
    inclusion_log: manifest.inclusion_log.map((item) => ({
      ...item,
      item_id: words(item.item_id),
      source_ref: item.source_ref === null ? null : words(item.source_ref),
      rendered_ref: hash(item.rendered_ref),
      // A hash of the text as it was would confirm a guess at a short secret.
      source_hash: stored.changed.has(item.rendered_ref) ? capture.keyed(item.source_hash) : item.source_hash,
      ...(item.title === undefined ? {} : { title: words(item.title) }),
      ...(stored.changed.has(item.rendered_ref) && capture.mode !== "hashed" ? { is_masked: true } : {}),
    })),
    exclusion_log:
      manifest.exclusion_log?.map((item) => ({
        ...item,
        item_id: words(item.item_id),
        source_ref: item.source_ref === null ? null : words(item.source_ref),
        ...(item.detail === undefined ? {} : { detail: words(item.detail) }),
      })) ?? null,
    provenance: manifest.provenance.map((file) => ({ ...file, path: words(file.path) })),
    faults: [],
  }
}

const wordsFor =
  (capture: Capture) =>
  (text: string): string =>
    capture.mode === "hashed" ? capture.digestWord(text) : capture.searched(text)

function emitRetrieval(step: StepHandle, manifest: ManifestOfContext): void {
  const { retrievers, retrieval_query, candidate_chunk_ids } = manifest
  if (!retrievers || retrievers.length === 0 || retrieval_query === null) return
  step.retrieved(
    {
      retriever: retrievers.map(({ id }) => id).join("+"),
      version: retrievers.map(({ version }) => version).join("+"),
      query: retrieval_query,
    },
    (candidate_chunk_ids ?? []).map(({ chunk_id, score }) => ({ chunkId: chunk_id, score })),
  )
}

/** The prompt as it was rendered; what an application only told the parts of was rendered elsewhere. */
function emitRendered(step: StepHandle, { prompt, template }: AssembledContext): BodyHash | null {
  if (prompt === undefined) return null
  const bodies = new BodiesOfEvent(step.run.builder, "prompt_rendered")
  const rendered_prompt_ref = bodies.ref("rendered_prompt", prompt)!
  step.emit(
    "prompt_rendered",
    {
      prompt_template_id: template.id,
      prompt_template_version: template.version,
      prompt_variables_ref: null,
      rendered_prompt_ref,
    },
    bodies.extras(),
  )
  return rendered_prompt_ref
}

function emitAssembly(step: StepHandle, compiled: AssembledContext, stored: StoredBodies): void {
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
      token_budget: compiled.manifest.token_budget?.ctx_max_tokens ?? null,
      excluded_count: compiled.manifest.exclusion_log?.length,
      total_tokens: compiled.manifest.token_budget?.prompt_tokens ?? null,
    },
    { refs: stored.refs, bodies: stored.bodies, redaction: stored.redaction },
  )
}
