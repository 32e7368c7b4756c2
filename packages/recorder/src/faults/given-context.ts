import { OrangeboxError, type Segment } from "@orangebox/contract"
import type { ExpectedPrompt } from "@orangebox/dialects"
import type { StepHandle, StepState } from "../step-handle.js"
import type { RaisedFault } from "./raise-fault.js"
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

/** What was given, in the one form that is committed, or why it cannot be. Whatever an application hands over, reading it throws nothing else. */
export function readGiven(
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
