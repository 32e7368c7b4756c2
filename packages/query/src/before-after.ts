import { type JsonNode, OrangeboxError, payloadOf, readJson, textIn } from "@orangebox/contract"
import { estimateTokens, type JsonChange, jsonDifference, plural, recordedText } from "@orangebox/text"
import type { RunView, StepView } from "./run-view.js"

/** Where the two forms of a prompt are: what the application built, and what went over the wire. */
export interface BeforeAfterRefs {
  readonly before: { readonly n: number; readonly hash: string }
  readonly after: { readonly n: number; readonly hash: string }
}

/** The bodies to compare for step #n: a call with attempts on the wire, one of its attempts, or a step that rendered a prompt itself. */
export function beforeAfterOf(view: RunView, n: number): BeforeAfterRefs {
  const step = view.steps[n - 1]
  const call = step?.attemptNo === undefined ? step : view.steps[(step.parent ?? 1) - 1]
  const attempt = step?.attemptNo === undefined ? lastAttempt(view, step) : step
  const before = renderedIn(call) ?? renderedIn(call?.parent === undefined ? undefined : view.steps[call.parent - 1])
  const after = attempt && textIn(payloadOf(attempt.opened), "request_ref")
  if (!call || !attempt || before === undefined || after === undefined) {
    throw new OrangeboxError("NO_BEFORE_AFTER", {
      what: `step #${n} has no prompt both as it was built and as it was sent`,
      next: "Calls made with step.model through recorder.fetch or step.fetch have both",
    })
  }
  return { before: { n: call.n, hash: before }, after: { n: attempt.n, hash: after } }
}

function lastAttempt(view: RunView, call: StepView | undefined): StepView | undefined {
  if (!call) return undefined
  const attempts = call.children.map((child) => view.steps[child - 1]!).filter((child) => child.attemptNo !== undefined)
  return attempts.at(-1) ?? (call.kind === "model" ? call : undefined)
}

function renderedIn(step: StepView | undefined): string | undefined {
  const event = step?.events.findLast((candidate) => candidate.event_type === "prompt_rendered")
  return event && textIn(payloadOf(event), "rendered_prompt_ref")
}

/** One place that differs, with both values as they were written. */
export interface PromptChange extends Pick<JsonChange, "pointer" | "kind" | "to"> {
  readonly before: string | undefined
  readonly after: string | undefined
}

export interface BeforeAfter {
  readonly isEqual: boolean
  /** Null when one side is not JSON; then `firstDifference` tells where they part. */
  readonly changes: readonly PromptChange[] | null
  readonly firstDifference: number | null
}

/** What a transform between the application and the wire changed. */
export function compareBeforeAfter(before: string, after: string): BeforeAfter {
  const [first, second] = [readJson(before), readJson(after)]
  if (first.ok && second.ok) {
    const written = (node: JsonNode | undefined, text: string) => node && text.slice(node.start, node.end)
    const changes = Array.from(jsonDifference(first.node, second.node), (change) => ({
      ...change,
      before: written(change.before, before),
      after: written(change.after, after),
    }))
    return { isEqual: changes.length === 0, changes, firstDifference: null }
  }
  if (before === after) return { isEqual: true, changes: null, firstDifference: null }
  let at = 0
  while (at < before.length && at < after.length && before[at] === after[at]) at++
  return { isEqual: false, changes: null, firstDifference: at }
}

/** The comparison as lines, within a budget; says how many changes it leaves out. */
export function beforeAfterText(comparison: BeforeAfter, options: { readonly budget?: number } = {}): string {
  const { changes, firstDifference, isEqual } = comparison
  if (isEqual) return "sent as it was built: no change but in spacing and key order"
  if (!changes) return `not JSON on both sides; they part at character ${firstDifference}`
  const lines = [`${plural(changes.length, "change")} between what was built and what was sent`]
  const budget = options.budget ?? 2000
  let used = estimateTokens(lines[0]!)
  for (const [index, change] of changes.entries()) {
    const line = lineOf(change)
    used += estimateTokens(line)
    if (used > budget - 20) {
      lines.push(`… ${changes.length - index} of ${changes.length} changes left out (raise --budget)`)
      break
    }
    lines.push(line)
  }
  return lines.join("\n")
}

const SIGN = { added: "+", removed: "−", changed: "~", moved: "↷" } as const

function lineOf({ kind, pointer, before, after, to }: PromptChange): string {
  const place = `${SIGN[kind]} ${recordedText(pointer === "" ? "/" : pointer, 200)}`
  if (kind === "added") return `${place}  ${shown(after)}`
  if (kind === "removed") return `${place}  ${shown(before)}`
  if (kind === "moved") return `${place} → ${recordedText(to!, 200)}`
  return `${place}  ${shown(before)} → ${shown(after)}`
}

const shown = (text: string | undefined): string => recordedText(text ?? "", 120)
