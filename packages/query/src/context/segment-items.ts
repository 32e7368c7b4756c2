import { countIn, itemTypeOf, type LoosePayload, payloadOf, recordsIn, textIn } from "@orangebox/contract"
import type { PromptPart } from "@orangebox/dialects"
import { promptTokens } from "../step-facts.js"
import type { Bodies, ContextItem, ContextReading, PromptSize } from "./context-reading.js"
import type { RecordedContext } from "./recorded-contexts.js"
import type { ReadableRequest } from "./request-on-record.js"

/** A context as the segments of its prompt tell it, where no compiler does. */
export function readingOfSegments(
  context: RecordedContext,
  request: ReadableRequest | undefined,
  bodies: Bodies,
): ContextReading {
  const event = context.told ?? context.derived
  const segments: readonly LoosePayload[] = event
    ? recordsIn(payloadOf(event), "segments")
    : (request?.anatomy.segments ?? []).map(({ segment }) => segment)
  const isMissing = missingFrom(context.told ? context : undefined)
  const prompt = sizeOf(context, segments)
  const excludedCount = countIn(payloadOf(event), "excluded_count")
  const isTold = context.told !== undefined
  // Texts are found by position: a stored request may have been redacted after its segments were hashed.
  const parts = request && !isTold && request.anatomy.parts.length === segments.length ? request.anatomy.parts : []
  const called = payloadOf(context.step.opened)
  const sent = request?.anatomy.prefix
  const prefixHash = textIn(called, "prefix_fingerprint") ?? sent?.fingerprint ?? undefined
  const prefixSize = countIn(called, "prefix_length") ?? sent?.length ?? undefined
  return {
    context,
    basis: segments.length === 0 ? "unknown" : isTold ? "assembled" : "request",
    inferredBy: isTold || segments.length === 0 ? undefined : (event?.inferred_by ?? READER),
    ...splitMissing(
      segments.map((segment, index) =>
        itemOf(segment, index + 1, prompt, wordsOf(parts[index]) ?? contentOf(segment, bodies)),
      ),
      isMissing,
    ),
    excluded: null,
    excludedCount,
    prompt,
    prefix: prefixHash === undefined ? undefined : { hash: prefixHash, byteSize: prefixSize },
    manifest: undefined,
    faults: [],
    revision: 0,
    gaps: segments.length === 0 ? [whyUnknown(context)] : [],
  }
}

/** Which of the told items the request does not hold. */
export function missingFrom(context: RecordedContext | undefined): (index: number) => boolean {
  const missing = new Set(context?.account?.missingItems)
  return (index) => missing.has(index)
}

/** The items that the model read, in their places, and those that it did not. */
export function splitMissing(
  items: readonly ContextItem[],
  isMissing: (index: number) => boolean,
): Pick<ContextReading, "items" | "missing"> {
  const seen = items.filter((_, index) => !isMissing(index)).map((item, index) => ({ ...item, position: index + 1 }))
  return { items: seen, missing: items.filter((_, index) => isMissing(index)).map(unread) }
}

/** What was not sent has a size and no share of what was. */
const unread = (item: ContextItem): ContextItem => ({ ...item, share: undefined })

/** Who derived it, where that was not done at capture. */
export const READER = "context-reader@1"

function whyUnknown({ request }: RecordedContext): string {
  if (!request) return "no request is recorded"
  if (request.absent !== undefined) return `the request's body is not there: ${request.absent.replace("_", " ")}`
  return request.notOnWire ?? "the request's body is not there, or in no dialect known here"
}

/** Where the parts were not counted, the provider's count of the whole is shared out by size. */
export function sizeOf(context: RecordedContext, all: readonly LoosePayload[]): PromptSize {
  const { told, derived, step } = context
  const isMissing = missingFrom(told && context)
  const segments = all.filter((_, index) => !isMissing(index))
  const payload = payloadOf(told ?? derived)
  const lengths = segments.map((segment) => countIn(segment, "length") ?? 0)
  const byteSize = lengths.reduce((sum, length) => sum + length, 0)
  const budget = countIn(payload, "token_budget")
  const counted = promptTokens(payload, segments)
  if (counted !== undefined)
    return { tokens: counted, countedBy: "application", areItemsEstimated: false, budget, byteSize }
  const reported = step.model?.inputTokens
  if (reported !== undefined)
    return { tokens: reported, countedBy: "provider", areItemsEstimated: true, budget, byteSize }
  if (segments.length === 0) {
    return { tokens: undefined, countedBy: undefined, areItemsEstimated: false, budget, byteSize: undefined }
  }
  const tokens = Math.ceil(byteSize / BYTES_A_TOKEN)
  return { tokens, countedBy: "estimate", areItemsEstimated: true, budget, byteSize }
}

const BYTES_A_TOKEN = 4

function itemOf(segment: LoosePayload, position: number, prompt: PromptSize, text: string | undefined): ContextItem {
  const contributor = textIn(segment, "contributor") ?? "?"
  const kind = textIn(segment, "kind") ?? "other"
  const byteSize = countIn(segment, "length")
  const tokens = prompt.areItemsEstimated ? shareOut(prompt, byteSize) : countIn(segment, "tokens")
  return {
    position,
    id: contributor,
    contributor,
    kind,
    itemType: itemTypeOf({ kind, contributor }),
    role: textIn(segment, "role"),
    reason: undefined,
    sourceRef: textIn(segment, "content_ref"),
    section: undefined,
    tier: undefined,
    tokens,
    fromTokens: undefined,
    byteSize,
    share: shareOf(tokens, byteSize, prompt),
    score: undefined,
    hash: textIn(segment, "segment_hash") ?? textIn(segment, "content_ref"),
    text: text?.slice(0, LONGEST_TEXT).toWellFormed(),
  }
}

function wordsOf(part: PromptPart | undefined): string | undefined {
  if (part?.kind === "tool-call") return `${part.name ?? "?"} ${part.arguments ?? ""}`
  return part?.text ?? undefined
}

/** The beginning of what an application stored beside its account. */
function contentOf(segment: LoosePayload, bodies: Bodies): string | undefined {
  const ref = textIn(segment, "content_ref")
  const bytes = ref === undefined ? undefined : bodies.get(ref)
  return bytes && new TextDecoder().decode(bytes.subarray(0, LONGEST_TEXT * 3))
}

/** As much as any line shows. */
const LONGEST_TEXT = 400

export function shareOut({ tokens, byteSize }: PromptSize, length: number | undefined): number | undefined {
  if (tokens === undefined || length === undefined || !byteSize) return undefined
  return Math.round((tokens * length) / byteSize)
}

export function shareOf(
  tokens: number | undefined,
  length: number | undefined,
  prompt: PromptSize,
): number | undefined {
  if (prompt.budget && tokens !== undefined) return tokens / prompt.budget
  if (length !== undefined && prompt.byteSize) return length / prompt.byteSize
  return undefined
}
