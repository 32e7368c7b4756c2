import { findInjectedContext, type LostItem, rebuildContext } from "@orangebox/context"
import { bodyHash } from "@orangebox/contract"
import type { Bodies, ContextReading } from "./context-reading.js"
import type { RecordedContext } from "./recorded-contexts.js"

/** A prompt to the byte, or what is missing of it. */
export type RebuiltPrompt =
  | { readonly ok: true; readonly from: "manifest" | "request"; readonly hash: string; readonly bytes: Uint8Array }
  | {
      readonly ok: false
      readonly missing: readonly LostItem[]
      readonly changed: readonly LostItem[]
      /** With a visible mark in every place that could not be filled; undefined where nothing is there. */
      readonly partial: string | undefined
      readonly reason: string
    }

/** The bodies a prompt is rebuilt from: the whole where it was kept as one, and its pieces. */
export function promptBodies({ manifest, context }: ContextReading): readonly string[] {
  if (!manifest) return context.request ? [context.request.hash] : []
  return [manifest.prompt_hash, ...new Set(manifest.inclusion_log.map(({ rendered_ref }) => rendered_ref))]
}

/** What the model was given: the compiled prompt where there is a manifest, else the request as it went out. */
export function rebuildPrompt({ manifest, context, gaps }: ContextReading, bodies: Bodies): RebuiltPrompt {
  if (!manifest) {
    const bytes = context.request && bodies.get(context.request.hash)
    if (context.request && bytes) return { ok: true, from: "request", hash: context.request.hash, bytes }
    const absent = context.request?.absent === undefined ? "" : `: ${context.request.absent.replace("_", " ")}`
    const reason = context.request ? `the request's body is not there${absent}` : (gaps[0] ?? "no request is recorded")
    return { ok: false, missing: [], changed: [], partial: undefined, reason }
  }
  const whole = bodies.get(manifest.prompt_hash)
  if (whole && bodyHash(whole) === manifest.prompt_hash) {
    return { ok: true, from: "manifest", hash: manifest.prompt_hash, bytes: whole }
  }
  const rebuilt = rebuildContext(manifest, bodies)
  if (rebuilt.ok) {
    const bytes = new TextEncoder().encode(rebuilt.prompt)
    return { ok: true, from: "manifest", hash: manifest.prompt_hash, bytes }
  }
  const { missing, changed, partial } = rebuilt
  const lost = missing.length + changed.length
  const reason = `${lost} of ${manifest.inclusion_log.length} items cannot be filled in${absenceOf(context, missing)}`
  return {
    ok: false,
    missing,
    changed,
    partial: missing.length === manifest.inclusion_log.length ? undefined : partial,
    reason,
  }
}

/** Why pieces are not there, where the refs of the assembled prompt say it. */
function absenceOf({ told }: RecordedContext, missing: readonly LostItem[]): string {
  const hashes = new Set(missing.map(({ rendered_ref }) => rendered_ref))
  const refs = (told?.artifact_refs ?? []).filter(({ artifact_hash }) => hashes.has(artifact_hash))
  const reasons = new Set(refs.flatMap(({ absent }) => absent?.replace("_", " ") ?? []))
  return reasons.size === 0 ? "" : `: ${[...reasons].join(", ")}`
}

/**
 * Whether the compiled prompt is what went out. `context_injected`: the request does not hold it byte for byte, so something else put words
 * into the context. `unknown` where either of the two is not there.
 */
export type Delivery = "verbatim" | "context_injected" | "unknown"

export function deliveryOf(reading: ContextReading, bodies: Bodies): Delivery {
  const { manifest, context } = reading
  const request = context.request && bodies.get(context.request.hash)
  if (!manifest || !request) return "unknown"
  const rebuilt = rebuildPrompt(reading, bodies)
  if (!rebuilt.ok) return "unknown"
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  const compiled = { prompt: decoder.decode(rebuilt.bytes), prefixLength: manifest.prefix_length }
  if (!findInjectedContext(decoder.decode(request), compiled, `#${context.n}`)) return "verbatim"
  // A request that was masked or cut off when it was stored need not hold what was sent.
  return context.request?.isVerbatim ? "context_injected" : "unknown"
}
