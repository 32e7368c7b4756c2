import { type FinishKind, finishKindOf } from "@orangebox/dialects"
import {
  cutToWidth,
  displayWidth,
  formatBytes,
  formatCount,
  formatDuration,
  formatPercent,
  recordedText,
  recordedWord,
} from "@orangebox/text"
import { markedMode } from "./marked-mode.js"
import type { StepView } from "./run-view.js"
import type { ErrorView, QueueView } from "./step-facts.js"

/** The words of one skeleton line. Everything in them is safe to print. */
export interface LineWords {
  readonly label: string
  /** A duration, `open`, or nothing. */
  readonly time: string
  readonly verdict: string
  readonly tone: "plain" | "bad" | "warn"
}

/** Widths of recorded text inside a line. A short line is for when the full one would eat the reader's budget. */
const FULL_WIDTHS = { name: 48, text: 60, error: Number.POSITIVE_INFINITY, isCacheTold: true }
const SHORT_WIDTHS = { name: 20, text: 24, error: 60, isCacheTold: true }

/** `room` is how wide the label may be: what was recorded is cut for it, our own words are not. */
export function stepWords(step: StepView, isShort: boolean, room = Number.POSITIVE_INFINITY): LineWords {
  const width = isShort ? SHORT_WIDTHS : FULL_WIDTHS
  const { verdict, tone } = verdictOf(step, width)
  const time = step.closed ? formatDuration(step.durationUs) : "open"
  return { label: fittedLabel(step, width, room), time, verdict, tone }
}

type Widths = typeof FULL_WIDTHS

function fittedLabel(step: StepView, width: Widths, room: number): string {
  const label = labelOf(step, width)
  if (displayWidth(label) <= room) return label
  // Of a call its model says more than what the cache served, which `orangebox cache` tells in full.
  const [least, shorter] = step.model
    ? [{ ...width, isCacheTold: false }, labelOf(step, { ...width, isCacheTold: false })]
    : [width, label]
  const over = displayWidth(shorter) - room
  if (over <= 0) return shorter
  const cut = (recorded: string | undefined, shown: number): number =>
    Math.max(LEAST_RECORDED, displayWidth(recordedWord(recorded ?? "", shown)) - over)
  const text = cut(step.runInput ?? step.tool?.args, width.text)
  // A tool's name says more than its arguments; where there are none of those, the name has to give.
  const isNameCut = step.runInput === undefined && !step.tool?.args
  return labelOf(step, { ...least, text, ...(isNameCut ? { name: cut(step.name, width.name) } : {}) })
}

/** Less of a recorded text says nothing. */
const LEAST_RECORDED = 8

function labelOf(step: StepView, width: Widths): string {
  const words: string[] = []
  if (step.inferredBy !== undefined) words.push("≈")
  const mode = markedMode(step)
  if (mode !== undefined) words.push(`[${recordedWord(mode, 20)}]`)
  words.push(...subjectOf(step, width))
  if (step.attemptNo !== undefined) words.push(`attempt ${step.attemptNo}`)
  if (step.attempts > 1) words.push(`(${step.attempts} attempts)`)
  return words.join(" ")
}

function subjectOf(step: StepView, width: Widths): string[] {
  const name = step.name === undefined ? undefined : recordedWord(step.name, width.name)
  switch (step.kind) {
    case "run":
      if (step.runInput !== undefined) return ["run", recordedText(step.runInput, width.text)]
      return ["run", name ?? "(its opening is not recorded)"]
    case "model":
      return ["model", name ?? "?", ...usageOf(step, width)]
    case "tool":
      return ["tool", name ?? "?", ...(step.tool?.args ? [recordedWord(step.tool.args, width.text)] : [])]
    default:
      if (!step.opened) return ["step", "(its opening is not recorded)"]
      if (step.queue?.messageId !== undefined) return queueWords(step, step.queue)
      return [...(step.workKind === undefined ? [] : [recordedWord(step.workKind, width.name)]), name ?? "?"]
  }
}

/** `queue.deliver m-2 · chat-a → chat-b · delivered chat-c`. */
function queueWords(
  { workKind, status }: StepView,
  { messageId, source, target, delivered, ...how }: QueueView,
): string[] {
  const word = (id: string | undefined): string => (id === undefined ? "?" : recordedWord(id, 48))
  const parts = [`${recordedWord(workKind ?? "", 24)} ${word(messageId)}`]
  if (source !== undefined || target !== undefined) parts.push(`${word(source)} → ${word(target)}`)
  if (delivered !== undefined) parts.push(`${status === "success" ? "delivered" : "to"} ${word(delivered)}`)
  if (how.deliveryNo !== undefined) parts.push(`delivery ${how.deliveryNo}`)
  else if (how.redelivered) parts.push("redelivered")
  if (how.acknowledged !== undefined) parts.push(how.acknowledged ? "acknowledged" : "not acknowledged")
  return [parts.join(" · ")]
}

/** Whether a message is known to have gone elsewhere than it was meant to. */
export const isMisrouted = ({ target, delivered }: QueueView): boolean =>
  target !== undefined && delivered !== undefined && target !== delivered

function usageOf(step: StepView, { isCacheTold }: Widths): string[] {
  const model = step.model
  if (!model) return []
  const words = [`${formatCount(model.inputTokens)} → ${formatCount(model.outputTokens)}`]
  if (isCacheTold && model.cacheReadTokens !== undefined && model.inputTokens) {
    words.push(`cache ${formatPercent(model.cacheReadTokens, model.inputTokens)}`)
  }
  return words
}

function verdictOf(step: StepView, width: Widths): Pick<LineWords, "verdict" | "tone"> {
  if (step.status === "success" && step.queue && isMisrouted(step.queue))
    return { verdict: "✗ not its target", tone: "bad" }
  const isBad = step.status === "error" || step.status === "timeout" || isCrashPlace(step)
  return {
    verdict: outcomeOf(step, width),
    tone: isBad ? "bad" : step.status === "partial" || (step.tool?.exitCode ?? 0) !== 0 ? "warn" : "plain",
  }
}

function isCrashPlace(step: StepView): boolean {
  return step.status === "crashed" && step.isInnermostOpen
}

function outcomeOf(step: StepView, width: Widths): string {
  switch (step.status) {
    case "error":
      return `✗ ${(step.error && errorWords(step.error, width.error)) || "failed"}`
    case "timeout":
      return `✗ timeout ${step.error ? errorWords(step.error, width.error) : ""}`.trimEnd()
    case "crashed":
      return isCrashPlace(step) ? `✗ crashed${receivedOf(step)}` : ""
    case "open":
      return receivedOf(step).trim()
    case "partial":
      return ["partial", ...okWords(step, width), ...brokenOff(step.error, width)].join(" · ")
    default:
      return okWords(step, width).join(" · ")
  }
}

/** What an answer broke off with; where that is another step's, it is told there. */
const brokenOff = (error: ErrorView | undefined, width: Widths): string[] =>
  error === undefined || error.sameAs !== undefined ? [] : [errorWords(error, width.error)]

function receivedOf(step: StepView): string {
  const received = step.partials.map(
    ({ byteSize, role, withheldBytes }) =>
      `${formatBytes(byteSize)} of the ${recordedWord(role, 24)}${withheldBytes === undefined ? "" : ` (${formatBytes(withheldBytes)} more withheld)`}`,
  )
  return received.length === 0 ? "" : ` after ${received.join(", ")}`
}

/** Of a body whose writer died: the tail that it did not write. */
export const withheldWords = (bytes: number): string =>
  `${formatBytes(bytes)} more had come and were withheld, not yet searched for secrets`

/** What was wrong, in the recorder's words and with the error's own first line whole. */
export function errorWords(error: ErrorView, maxWidth: number): string {
  if (error.sameAs !== undefined) return `as #${error.sameAs}`
  const words: string[] = []
  if (error.exitCode !== undefined) words.push(`exit ${error.exitCode}`)
  if (error.httpStatus !== undefined && error.httpStatus >= 400) words.push(`HTTP ${error.httpStatus}`)
  if (error.errorClass !== undefined) words.push(recordedWord(error.errorClass, Math.min(maxWidth, 80)))
  const said = error.line ? recordedText(error.line, maxWidth) : undefined
  const head = words.join(" ")
  const blame = error.blames === undefined ? "" : ` (at #${error.blames})`
  return (head && said ? `${head}: ${said}` : (said ?? head)) + blame
}

/** A result this short says more than its size. */
const TELLING_RESULT = 40

function okWords(step: StepView, width: Widths): string[] {
  if (step.tool) {
    const { result, resultBytes, exitCode } = step.tool
    const how = exitCode === undefined || exitCode === 0 ? "ok" : `exit ${exitCode}`
    const size = resultBytes === undefined ? how : `${how} ${formatBytes(resultBytes)}`
    return result !== undefined && result.length <= TELLING_RESULT ? [size, recordedText(result, width.text)] : [size]
  }
  if (!step.model) return []
  const { thinkingMs, requestedTools, outputSummary, finishReason } = step.model
  const words: string[] = []
  if (thinkingMs) words.push(`thought ${formatDuration(thinkingMs * 1000)}`)
  if (requestedTools.length > 0) words.push(`asks ${toolList(requestedTools)}`)
  else if (outputSummary !== undefined) words.push(recordedText(outputSummary, Math.min(48, width.text)))
  if (finishReason !== undefined && !USUAL_ENDS.has(finishKindOf(finishReason)))
    words.push(`stopped: ${recordedWord(finishReason, 32)}`)
  return words
}

/** An answer that simply ended; anything else (length, refusal, filter) is worth a word. */
const USUAL_ENDS = new Set<FinishKind | null>(["stop", "tool_call"])

function toolList(names: readonly string[]): string {
  const counted = new Map<string, number>()
  for (const name of names) counted.set(name, (counted.get(name) ?? 0) + 1)
  const words = [...counted].map(([name, count]) => recordedWord(name, 32) + (count > 1 ? `×${count}` : ""))
  return cutToWidth(
    words.length > 4 ? `${words.slice(0, 4).join(", ")} and ${words.length - 4} more` : words.join(", "),
    120,
  )
}
