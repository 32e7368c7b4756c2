import {
  cutToTokens,
  estimateTokens,
  formatBytes,
  formatCount,
  formatDuration,
  plural,
  recordedFence,
  recordedText,
  recordedWord,
  snakeJson,
} from "@orangebox/text"
import type { BeforeAfter } from "./before-after.js"
import { countsOf, sinceWord } from "./context/context-changes.js"
import type { ContextView } from "./context/context-view.js"
import { stepAt } from "./format-run.js"
import { errorWords } from "./format-skeleton.js"
import type { RunView, StepView } from "./run-view.js"
import { stepSummaryJson } from "./skeleton-json.js"
import { type BodyView, bodiesOf } from "./step-facts.js"
import { type StepContent, stepTitle } from "./step-view.js"

/** What a brief is made of, beside the run itself. */
export interface BriefParts {
  /** What was said in the step. */
  readonly contents: readonly StepContent[]
  /** What the model saw, for a call of one. */
  readonly context?: ContextView | undefined
  /** What a transform did to the prompt, where both forms are on record. */
  readonly beforeAfter?: BeforeAfter | undefined
}

export interface BriefOptions {
  /** How the reader addressed the run, for the command in the last line. */
  readonly address: string
  /** A few characters that fence recorded text: fresh for every answer. */
  readonly nonce: string
  readonly budget?: number
}

export const BRIEF_BUDGET = 300

/**
 * One step for a reader who pays by the token: our words first, recorded text fenced, and the command that reads on. What was said is cut
 * to what is left of the budget, errors first.
 */
export function briefText(view: RunView, n: number, parts: BriefParts, options: BriefOptions): string {
  const step = stepAt(view, n)
  const most = options.budget ?? BRIEF_BUDGET
  const bodies = bodiesOf(step.events)
  const cut = (line: string, share: number): string => cutToTokens(line, Math.floor(most * share), estimateTokens)
  const frame = [
    cut(headOf(view, step), 0.3),
    ...askedLines(parts.context).map((line) => cut(line, 0.15)),
    ...sinceLines(parts).map((line) => cut(line, 0.15)),
    ...runLines(view, step),
    ...triesLines(view, step).map((line) => cut(line, 0.3)),
  ]
  const last = [
    ...bodyLine(bodies).map((line) => cut(line, 0.2)),
    nextLine(view, step, bodies, parts.contents, options.address),
  ]
  let left = most - [...frame, ...last].reduce((cost, line) => cost + estimateTokens(line) + 1, 0)
  const said = [...parts.contents].sort((a, b) => Number(isError(b)) - Number(isError(a)))
  const lines = said.flatMap((content, index) => {
    const share = Math.floor(left / (said.length - index))
    const line = saidLine(content, share, options.nonce)
    const cost = estimateTokens(line) + 1
    if (cost > left) return []
    left -= cost
    return [line]
  })
  return [...frame, ...lines, ...last].join("\n")
}

/** The same for programs: figures as figures, texts as far as a brief holds them. */
export function briefJson(view: RunView, n: number, { contents, context, beforeAfter }: BriefParts) {
  const step = stepAt(view, n)
  return {
    step: stepSummaryJson(step),
    follows: followed(view, step).map((other) => other.n),
    source: (step.opened ?? step.events[0])?.source ?? null,
    asked: context
      ? { tokens: context.prompt.tokens ?? null, items: context.items.length, kinds: kindsOf(context) }
      : null,
    since: context?.changes ? snakeJson(countsOf(context.changes)) : null,
    before_after: beforeAfter ? { is_equal: beforeAfter.isEqual, changes: beforeAfter.changes?.length ?? null } : null,
    said: contents.map(({ title, body, text, note }) => ({
      ...{ title, body, text: text === undefined ? null : text.slice(0, 400), note: note ?? null },
      chars: text?.length ?? null,
    })),
    bodies: bodiesOf(step.events).map(({ role, hash, byteSize }) => ({ role, hash, byte_size: byteSize })),
  }
}

/** What the provider said to the tries of a call, where the call does not say the same: a client has words of its own for it. */
function triesLines(view: RunView, step: StepView): string[] {
  const tries = step.children.map((n) => view.steps[n - 1]!).filter(({ attemptNo }) => attemptNo !== undefined)
  const failed = tries.filter(({ error }) => error !== undefined)
  const last = failed.at(-1)?.error
  if (last === undefined || last.line === step.error?.line) return []
  return [
    `tries   ${failed.length} of ${tries.length} failed: ${errorWords({ ...last, sameAs: undefined }, TRY_ERROR)}`,
  ]
}

const TRY_ERROR = 240

const isError = ({ title }: StepContent): boolean => title === "exception"

function headOf(view: RunView, step: StepView): string {
  const thought = step.model?.thinkingMs
  const title = stepTitle(step)
  const { source } = step.opened ?? step.events[0] ?? {}
  return [
    title,
    ...(thought && !title.includes("thought ") ? [`thought ${formatDuration(thought * 1000)}`] : []),
    ...followed(view, step).map((other) => `follows #${other.n}`),
    ...(source === undefined ? [] : [`source ${recordedWord(source, 40)}`]),
  ].join(" · ")
}

function followed(view: RunView, { links }: StepView): StepView[] {
  const ids = links.flatMap(({ kind, step_id }) => (kind === "follows" && step_id !== undefined ? [step_id] : []))
  return view.steps.filter(({ id }) => id !== undefined && ids.includes(id))
}

function askedLines(context: ContextView | undefined): string[] {
  if (!context || context.items.length === 0) return []
  const kinds = kindsOf(context).map(({ kind, tokens, bytes }) => {
    const size = tokens === null ? formatBytes(bytes ?? undefined) : formatCount(tokens)
    return `${recordedWord(kind, 24)} ${size}`
  })
  const estimated = context.prompt.countedBy === "estimate" ? "≈" : ""
  const count = plural(context.items.length, "segment")
  return [`asked   ${estimated}${formatCount(context.prompt.tokens)} in, ${count}: ${kinds.join(" · ")}`]
}

const MOST_KINDS = 6

/** How much of the prompt each kind of segment takes, most first. */
function kindsOf({ items }: ContextView): { kind: string; tokens: number | null; bytes: number | null }[] {
  const sums = new Map<string, { tokens: number | null; bytes: number | null }>()
  for (const { kind, tokens, byteSize } of items) {
    const sum = sums.get(kind) ?? { tokens: 0, bytes: 0 }
    const add = (sum: number | null, more: number | undefined) =>
      sum === null || more === undefined ? null : sum + more
    sums.set(kind, { tokens: add(sum.tokens, tokens), bytes: add(sum.bytes, byteSize) })
  }
  return [...sums]
    .map(([kind, sum]) => ({ kind, ...sum }))
    .sort((a, b) => (b.tokens ?? b.bytes ?? 0) - (a.tokens ?? a.bytes ?? 0))
    .slice(0, MOST_KINDS)
}

function sinceLines({ context, beforeAfter }: BriefParts): string[] {
  const { changes } = context ?? {}
  const parts: string[] = []
  if (changes) {
    const { added, removed, changed, same, historyLoss } = changes
    const loss = historyLoss ? ` · ≈ ${historyLoss.why}` : ""
    parts.push(`since ${sinceWord(changes)}  +${added.length} −${removed.length} ~${changed.length} =${same}${loss}`)
  }
  if (beforeAfter && !beforeAfter.isEqual) {
    const places = (beforeAfter.changes ?? []).slice(0, 3).map(({ pointer }) => recordedText(pointer, 48))
    const count = beforeAfter.changes === null ? "differs" : plural(beforeAfter.changes.length, "change")
    parts.push(`BEFORE → AFTER ${[count, ...places].join(" ")}`)
  }
  return parts.length === 0 ? [] : [parts.join(" · ")]
}

/** Of a run: what it is made of, and where it stopped. */
function runLines({ totals, crash }: RunView, { kind }: StepView): string[] {
  if (kind !== "run") return []
  const { steps, modelCalls, toolCalls, errors, lost } = totals
  const counts = [
    plural(steps, "step"),
    plural(modelCalls, "model call"),
    plural(toolCalls, "tool call"),
    plural(errors, "error"),
  ]
  const stopped = crash?.step === undefined ? [] : [`stopped in #${crash.step}`]
  return [`run     ${[...counts, `${lost} lost`, ...stopped].join(" · ")}`]
}

function saidLine({ title, text, note }: StepContent, most: number, nonce: string): string {
  const head = `${title.padEnd(7)} ${note === undefined ? "" : `(${note}) `}`
  if (text === undefined) return head.trimEnd()
  const line = (width: number): string => head + recordedFence(text, width, nonce)
  let width = 400
  while (width > 16 && estimateTokens(line(width)) > most) width = Math.floor(width * 0.8)
  return line(width)
}

function bodyLine(bodies: readonly BodyView[]): string[] {
  if (bodies.length === 0) return []
  const words = bodies.map(({ role, hash, byteSize, absent }) => {
    const gone = absent === undefined ? "" : ` ${absent.replace("_", " ")}`
    return `${recordedWord(role, 24)} ${hash.slice(0, "sha256:".length + 10)} ${formatBytes(byteSize)}${gone}`
  })
  return [`bodies  ${words.join(" · ")}`]
}

function nextLine(
  { crash }: RunView,
  step: StepView,
  bodies: readonly BodyView[],
  contents: readonly StepContent[],
  address: string,
): string {
  if (step.kind === "run" && crash?.step !== undefined && crash.step !== step.n)
    return `next: orangebox step ${address}#${crash.step} --brief`
  const told = contents.find(isError)?.body
  const body = told ?? bodies.find(({ role }) => role === "request" || role === "args")?.role ?? bodies[0]?.role
  const place = `orangebox step ${address}#${step.n}`
  return `next: ${body === undefined ? place : `${place} --body ${recordedWord(body, 24)}`}`
}
