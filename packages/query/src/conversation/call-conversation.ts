import { countIn, payloadOf, recordsIn, textIn } from "@orangebox/contract"
import { editsAsked } from "@orangebox/decisions"
import { type PromptPart, parseJson } from "@orangebox/dialects"
import { foldedAnswer } from "@orangebox/runs"
import type { Bodies } from "../context/context-reading.js"
import type { RecordedContext } from "../context/recorded-contexts.js"
import { type ReadableRequest, readableRequest } from "../context/request-on-record.js"
import { shareOut, sizeOf } from "../context/segment-items.js"
import type { RunView } from "../run-view.js"
import { cutText } from "./cut-text.js"

/** What had arrived of an answer that has no end. */
export interface TornAnswer {
  readonly bytes: Uint8Array
  readonly withheldBytes: number
}

/**
 * One model call as people read it: what the call before held as well, what is new since then, and the answer. Recorded text is as recorded,
 * and cut where it is long; every piece says where in the request its bytes are.
 */
export function callConversation(
  view: RunView,
  context: RecordedContext,
  previous: RecordedContext | undefined,
  bodies: Bodies,
  torn?: TornAnswer,
) {
  const request = readableRequest(context, bodies)
  const steps = new ToolSteps(view, context.n)
  const pieces = request === undefined ? null : piecesOf(context, request, previous, bodies, steps)
  const again = pieces?.filter(({ state }) => state === "again") ?? []
  return {
    n: context.n,
    lane: context.lane ?? null,
    request: request === undefined ? { absent: whyNoRequest(context) } : null,
    since:
      previous === undefined || pieces === null
        ? null
        : {
            run_id: runOf(previous),
            n: previous.n,
            prompt_tokens: previous.step.model?.inputTokens ?? null,
            pieces: again.length,
            tokens: again.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0),
            kinds: countsOf(again.map(({ kind }) => kind)),
          },
    pieces,
    answer: answerOf(context, request, bodies, steps, torn),
  }
}

const runOf = ({ step }: RecordedContext): string | null => (step.opened ?? step.events[0])?.run_id ?? null

function whyNoRequest({ request }: RecordedContext): string {
  if (request === undefined) return "no request is recorded"
  if (request.absent !== undefined) return `the request's body is not there: ${request.absent.replace("_", " ")}`
  return request.notOnWire ?? "the request's body is not there, or in no dialect known here"
}

function countsOf(kinds: readonly string[]): readonly { readonly kind: string; readonly count: number }[] {
  const counts = new Map<string, number>()
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts].map(([kind, count]) => ({ kind, count }))
}

function piecesOf(
  context: RecordedContext,
  { anatomy }: ReadableRequest,
  previous: RecordedContext | undefined,
  bodies: Bodies,
  steps: ToolSteps,
) {
  const held = heldBy(previous, bodies)
  const size = sizeOf(
    { ...context, told: undefined },
    anatomy.segments.map(({ segment }) => segment),
  )
  const names = new Map(
    anatomy.parts.flatMap(({ callId, name, kind }) =>
      kind === "tool-call" && callId ? [[callId, name] as const] : [],
    ),
  )
  return anatomy.parts.map((part, at) => {
    const { segment, start, end } = anatomy.segments[at]!
    const key = keyOf(segment.role, segment.segment_hash)
    const count = held.get(key) ?? 0
    if (count > 0) held.set(key, count - 1)
    const tool = part.name ?? (part.callId === null ? null : (names.get(part.callId) ?? null))
    return {
      state: count > 0 ? ("again" as const) : ("new" as const),
      kind: kindOf(part),
      role: part.role,
      message: part.message,
      tool,
      tokens: shareOut(size, segment.length) ?? null,
      is_estimated: true,
      is_error: part.isError === true,
      has_cache_mark: part.cacheMark !== null,
      from_step: part.kind === "tool-result" && part.callId !== null ? steps.of(part.callId) : null,
      hash: segment.segment_hash,
      body: { hash: context.request!.hash, from: start, to: end },
      part: partOf(part, tool, steps, context.n),
    }
  })
}

/** How often each piece stood in the prompt before. */
function heldBy(previous: RecordedContext | undefined, bodies: Bodies): Map<string, number> {
  const held = new Map<string, number>()
  if (previous === undefined) return held
  const recorded = recordsIn(payloadOf(previous.derived), "segments")
  const segments =
    recorded.length > 0
      ? recorded
      : (readableRequest(previous, bodies)?.anatomy.segments ?? []).map(({ segment }) => segment)
  for (const segment of segments) {
    const key = keyOf(textIn(segment, "role") ?? null, textIn(segment, "segment_hash") ?? "")
    held.set(key, (held.get(key) ?? 0) + 1)
  }
  return held
}

const keyOf = (role: string | null, hash: string): string => `${role ?? ""}\0${hash}`

function kindOf({ kind, role }: PromptPart): string {
  if (kind === "tool-def" || kind === "tool-result" || kind === "system") return kind
  return role === "assistant" || role === "model" ? "assistant" : (role ?? "other")
}

function partOf(part: PromptPart, tool: string | null, steps: ToolSteps, n: number) {
  switch (part.kind) {
    case "tool-call":
      return callPart(tool, part.arguments ?? "", part.callId, steps, n)
    case "image":
    case "document":
      return { type: part.kind, ...cutText(part.text ?? "") }
    case "thinking":
      return { type: "thinking" as const, ...cutText(part.text ?? "") }
    default:
      return { type: part.text === null ? ("other" as const) : ("text" as const), ...cutText(part.text ?? "") }
  }
}

function callPart(name: string | null, args: string, callId: string | null, steps: ToolSteps, n: number) {
  const edits = editsAsked(parseJson(args)).map(({ path, kind, diff, linesAdded, linesRemoved }) => ({
    ...{ path, kind, lines_added: linesAdded, lines_removed: linesRemoved },
    diff: cutText(diff),
  }))
  return {
    type: "call" as const,
    name,
    call_id: callId,
    step: callId === null ? null : steps.of(callId, n),
    arguments: cutText(args),
    edits,
  }
}

function answerOf(
  context: RecordedContext,
  request: ReadableRequest | undefined,
  bodies: Bodies,
  steps: ToolSteps,
  torn: TornAnswer | undefined,
) {
  const whole = context.response === undefined ? undefined : bodies.get(context.response)
  const bytes = whole ?? torn?.bytes
  if (bytes === undefined)
    return context.response === undefined
      ? null
      : {
          hash: context.response,
          is_torn: false,
          parts: null,
          finish_reason: null,
          tokens: outputOf(context),
          withheld_bytes: 0,
          byte_size: null,
          dialect: null,
          error: null,
        }
  const folded = foldedAnswer(bytes, request?.dialect)
  const isTorn = whole === undefined
  return {
    hash: context.response ?? null,
    dialect: folded?.dialect ?? null,
    tokens: outputOf(context),
    finish_reason: folded?.finishReason ?? null,
    is_torn: isTorn || folded?.ended === "partial",
    byte_size: bytes.length,
    withheld_bytes: isTorn ? (torn?.withheldBytes ?? 0) : 0,
    error: folded?.error ? { ...folded.error } : null,
    // Nothing that was said is left out because nobody knows its form: then it is shown as it came.
    parts:
      folded === undefined || (folded.parts.length === 0 && folded.form === "other")
        ? [{ type: "other" as const, ...cutText(new TextDecoder().decode(bytes)) }]
        : folded.parts.map((part) =>
            part.kind === "tool-call"
              ? callPart(part.name, part.arguments, part.id, steps, context.n)
              : { type: part.kind, ...cutText(part.text) },
          ),
  }
}

const outputOf = ({ step }: RecordedContext): number | null =>
  step.model?.outputTokens ?? countIn(payloadOf(step.closed), "output_tokens") ?? null

/** The steps that ran the tools that were asked for, by the ids of the calls. Providers may use an id again in another turn. */
class ToolSteps {
  readonly #steps = new Map<string, number[]>()
  readonly #n: number

  constructor(view: RunView, n: number) {
    this.#n = n
    for (const { n: no, tool } of view.steps) {
      if (tool?.callId === undefined) continue
      const known = this.#steps.get(tool.callId)
      if (known) known.push(no)
      else this.#steps.set(tool.callId, [no])
    }
  }

  /** With `after`: the first behind that step; else the last before this call, for what it is told. */
  of(callId: string, after?: number): number | null {
    const found = this.#steps.get(callId) ?? []
    const behind = after === undefined ? undefined : found.find((no) => no > after)
    return behind ?? found.findLast((no) => no < this.#n) ?? found[0] ?? null
  }
}
