import { type ArtifactRef, type BodyHash, bodyHash, OrangeboxError, type Segment } from "@orangebox/contract"
import { BodiesOfEvent } from "../bodies-of-event.js"
import type { Capture } from "../capture/capture.js"
import type { StepHandle, StepState } from "../step-handle.js"
import { type CommittedManifest, recordManifest } from "./committed-manifest.js"
import { type AssembledContext, type CompiledPrompt, type ManifestOfContext, readGiven } from "./given-context.js"
import type { ToldContext } from "./told-context.js"

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
