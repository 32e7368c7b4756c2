import { type ContextSources, itemsAgain, type LostItem, rebuildContext } from "@orangebox/context"
import { bodyHash } from "@orangebox/contract"
import { accountForRequest, type PromptAccount, readBody } from "@orangebox/dialects"
import type { Bodies, ContextReading } from "./context-reading.js"
import type { RecordedContext } from "./recorded-contexts.js"
import { readableRequest } from "./request-on-record.js"

/** A prompt to the byte, or what is missing of it. */
export type RebuiltPrompt =
  | {
      readonly ok: true
      /** `sources`: some of it was not kept and is rendered again from what its pointers lead to, to the recorded hash. */
      readonly from: "manifest" | "request" | "sources"
      readonly hash: string
      readonly bytes: Uint8Array
      /** Items in which secrets were masked when they were recorded: what was sent is not what is here. */
      readonly masked: readonly string[]
    }
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
  const request = context.request ? [context.request.hash] : []
  if (!manifest) return request
  const told =
    manifest.prompt_hash === null
      ? [...request, ...(manifest.request_ref ? [manifest.request_ref] : [])]
      : [manifest.prompt_hash]
  return [...told, ...new Set(manifest.inclusion_log.map(({ rendered_ref }) => rendered_ref))]
}

/** What the model was given: the compiled prompt where there is a manifest, else the request as it went out. */
export function rebuildPrompt(
  { manifest, context, gaps }: ContextReading,
  bodies: Bodies,
  sources?: ContextSources,
): RebuiltPrompt {
  const masked = (manifest?.inclusion_log ?? []).filter(({ is_masked }) => is_masked).map(({ item_id }) => item_id)
  if (!manifest || manifest.prompt_hash === null) {
    const bytes = context.request && bodies.get(context.request.hash)
    if (context.request && bytes)
      return { ok: true, from: "request", hash: context.request.hash, bytes, masked: maskedRequest(context, masked) }
    const absent = context.request?.absent === undefined ? "" : `: ${context.request.absent.replace("_", " ")}`
    const reason = context.request ? `the request's body is not there${absent}` : (gaps[0] ?? "no request is recorded")
    if (!manifest) return { ok: false, missing: [], changed: [], partial: undefined, reason }
    // How its items were put together, only the application knows; whether they are still what they were can be said.
    const { missing, changed } = itemsAgain(manifest, bodies, sources)
    const all = manifest.inclusion_log.length
    const kept = `${all - missing.length - changed.length} of ${all} items are as they were`
    return { ok: false, missing, changed, partial: undefined, reason: `${reason}; ${kept}` }
  }
  const hash = manifest.prompt_hash
  const whole = bodies.get(hash)
  if (whole && bodyHash(whole) === hash) return { ok: true, from: "manifest", hash, bytes: whole, masked }
  const rebuilt = rebuildContext({ ...manifest, prompt_hash: hash }, bodies, sources)
  if (rebuilt.ok) {
    const bytes = new TextEncoder().encode(rebuilt.prompt)
    const isKept = manifest.inclusion_log.every(({ rendered_ref }) => bodies.has(rendered_ref))
    return { ok: true, from: isKept ? "manifest" : "sources", hash, bytes, masked }
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

/** A request is named as a whole where its parts were not told. */
const maskedRequest = ({ request }: RecordedContext, masked: readonly string[]): readonly string[] =>
  masked.length === 0 && request?.isMasked ? ["the request"] : masked

/** Why pieces are not there, where the refs of the assembled prompt say it. */
function absenceOf({ told }: RecordedContext, missing: readonly LostItem[]): string {
  const hashes = new Set(missing.map(({ rendered_ref }) => rendered_ref))
  const refs = (told?.artifact_refs ?? []).filter(({ artifact_hash }) => hashes.has(artifact_hash))
  const reasons = new Set(refs.flatMap(({ absent }) => absent?.replace("_", " ") ?? []))
  return reasons.size === 0 ? "" : `: ${[...reasons].join(", ")}`
}

export type Delivery = PromptAccount["delivery"]

/**
 * Whether the compiled prompt is what went out, and what stands beside it: as the recorder found it when the request was sent; of a recording
 * without such a finding, what its bodies show. Undefined where nothing was compiled, or where either of the two is not there.
 */
export function accountOf(reading: ContextReading, bodies: Bodies): PromptAccount | undefined {
  const { manifest, context } = reading
  if (context.account) return context.account
  const request = context.request && bodies.get(context.request.hash)
  if (!manifest || manifest.prompt_hash === null || !request) return undefined
  const rebuilt = rebuildPrompt(reading, bodies)
  if (!rebuilt.ok) return undefined
  const prompt = new TextDecoder("utf-8", { ignoreBOM: true }).decode(rebuilt.bytes)
  const read = readableRequest(context, bodies)
  const account = accountForRequest(read?.body ?? readBody(request), read?.anatomy, {
    prompt,
    prefixLength: manifest.prefix_length,
  })
  // A request that was masked or cut off when it was stored need not hold what was sent.
  const isSure = account.delivery !== "context_injected" || context.request?.isVerbatim
  return isSure ? account : undefined
}
