import { payloadOf, recordsIn, textIn } from "@orangebox/contract"
import type { Bodies } from "../../context/context-reading.js"
import { type RecordedContext, recordedContexts } from "../../context/recorded-contexts.js"
import { readableRequest } from "../../context/request-on-record.js"
import type { StepView } from "../../run-view.js"
import { attemptsOf, type CaseFile } from "../case-file.js"
import { at, type Detected, type Finding } from "../finding.js"

/** A tool call or a result in a prompt, in the order the model reads them. */
export interface ToolMention {
  readonly id: string
  readonly isResult: boolean
}

export interface BrokenPair {
  readonly kind: "tool_result_missing" | "tool_result_orphan" | "tool_result_duplicate" | "tool_result_misplaced"
  readonly id: string
}

/** What a provider refuses: a call without its result, a result without its call, twice, or before it. */
export function brokenPairs(mentions: readonly ToolMention[]): readonly BrokenPair[] {
  const calls = new Map<string, number>()
  const results = new Map<string, number>()
  const broken: BrokenPair[] = []
  mentions.forEach(({ id, isResult }, index) => {
    if (!isResult) calls.set(id, index)
    else if (results.has(id)) broken.push({ kind: "tool_result_duplicate", id })
    else results.set(id, index)
  })
  for (const [id, index] of calls) {
    const answered = results.get(id)
    if (answered === undefined) broken.push({ kind: "tool_result_missing", id })
    else if (answered < index) broken.push({ kind: "tool_result_misplaced", id })
  }
  for (const id of results.keys()) if (!calls.has(id)) broken.push({ kind: "tool_result_orphan", id })
  return broken
}

/** The tool calls and results of a prompt, as its segments name them. */
export function toolMentions(segments: readonly object[]): readonly ToolMention[] {
  return segments.flatMap((segment) => {
    const id = textIn(segment as never, "tool_call_id")
    if (id === undefined) return []
    return [{ id, isResult: textIn(segment as never, "contributor")?.startsWith("tool-result:") === true }]
  })
}

/** Where the calls and results of tools stand in the bytes of a request, by id; of several of one id the last. */
export function toolPlaces(context: RecordedContext, bodies: Bodies): ReadonlyMap<string, readonly [number, number]> {
  const anatomy = readableRequest(context, bodies)?.anatomy
  const places = (anatomy?.parts ?? []).flatMap(({ callId }, at) => {
    const segment = anatomy?.segments[at]
    return callId && segment ? [[callId, [segment.start, segment.end]] as const] : []
  })
  return new Map(places)
}

/** A request whose tool calls and results do not pair, and whose provider refused it. */
export function corruptedHistory({ view, brokenPrompts }: CaseFile): Detected {
  const found: Finding[] = []
  const known = new Set<string>()
  let isAnyReadable = false
  for (const context of recordedContexts(view)) {
    if (context.derived === undefined) continue
    isAnyReadable = true
    const pairs = brokenPairs(toolMentions(recordsIn(payloadOf(context.derived), "segments")))
    // The same break stands in every later request too; it is reported where it first stood.
    const fresh = pairs.filter(({ kind, id }) => !known.has(`${kind} ${id}`))
    for (const { kind, id } of pairs) known.add(`${kind} ${id}`)
    const [first] = fresh
    if (first === undefined) continue
    const { step } = context
    const sent = attemptsOf(view, step).at(-1) ?? step
    const status = sent.error?.httpStatus ?? step.error?.httpStatus
    // What is refused for another reason, such as a wrong key, says nothing about the prompt.
    const isRefused = status === 400 || status === 422
    // The end of a request may ask for what a server keeps, or go on with a turn: a provider that accepts it is right.
    if (!isRefused && first.kind !== "tool_result_duplicate" && first.kind !== "tool_result_misplaced") continue
    const tool = view.steps.find(({ tool }) => tool?.callId === first.id)
    found.push({
      detector: "corrupted_history",
      kind: first.kind,
      severity: isRefused ? (view.status === "failed" || view.status === "crashed" ? "fatal" : "harm") : "notice",
      confidence: isRefused ? "proven" : "likely",
      cause: step.n,
      fails: step.n,
      claim: claimOf(first, step, tool, fresh.length, isRefused ? status : undefined),
      by: culpritOf(first, tool, brokenPrompts.get(step.n)?.builtResults),
      evidence: [
        at(sent, "request", brokenPrompts.get(step.n)?.places.get(first.id)),
        ...(isRefused ? [at(sent, "error")] : []),
        ...(tool === undefined ? [] : [at(tool, tool.closed === undefined ? null : "result")]),
      ],
    })
  }
  return isAnyReadable || view.totals.modelCalls === 0 ? found : { notRun: "no request says what it was made of" }
}

const WORDS: Readonly<Record<BrokenPair["kind"], string>> = {
  tool_result_missing: "was sent without the result of a tool call",
  tool_result_orphan: "was sent with a result whose tool call is not in it",
  tool_result_duplicate: "holds the result of a tool call twice",
  tool_result_misplaced: "holds a result before its tool call",
}

function claimOf(
  { kind }: BrokenPair,
  { n }: StepView,
  tool: StepView | undefined,
  count: number,
  status: number | undefined,
): string {
  const more = count > 1 ? `, and ${count - 1} more such` : ""
  const whose = tool === undefined ? "" : ` (the tool of #${tool.n})`
  const refused = status === undefined ? "; the provider took it" : `; the provider refused it: ${status}`
  return `#${n} ${WORDS[kind]}${whose}${more}${refused}`
}

function culpritOf(
  { kind, id }: BrokenPair,
  tool: StepView | undefined,
  built: ReadonlySet<string> | undefined,
): string | null {
  if (kind === "tool_result_missing" && built?.has(id) === true) {
    return "a transform: what the application built holds the result, what was sent does not"
  }
  if (
    kind === "tool_result_missing" &&
    tool !== undefined &&
    tool.closed === undefined &&
    tool.inferredBy === undefined
  )
    return "the tool: it never ended"
  return "the application: no transform is on record"
}
