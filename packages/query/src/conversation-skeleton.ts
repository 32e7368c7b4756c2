import { crashWords } from "@orangebox/runs"
import {
  type CountTokens,
  cutToWidth,
  estimateTokens,
  formatCount,
  type Painter,
  plain,
  plural,
  recordedText,
  recordedWord,
  wrapText,
} from "@orangebox/text"
import { headerOf, stepToLookAt } from "./format-run.js"
import { errorWords } from "./format-skeleton.js"
import { inFormat, roomOf, type ViewOptions } from "./page.js"
import type { RunView } from "./run-view.js"
import { MIN_SKELETON_BUDGET, skeletonRows } from "./skeleton.js"
import { runJson } from "./skeleton-json.js"

/** The budget is at least `MIN_SKELETON_BUDGET`, and 4,000 tokens where none is said. */
export interface ConversationOptions extends ViewOptions {
  /** Columns of the reader's terminal. Default: nothing limits a line. */
  readonly width?: number
  /** What the runs have in common, where it is not their conversation or where that is known by another name. */
  readonly thread?: { readonly kind: "conversation" | "trace"; readonly id: string }
}

const USUAL_BUDGET = 4000

/**
 * A whole conversation: a line or two for every run, oldest first, and below it the run's own skeleton where the budget reaches. Runs that
 * went wrong are opened first, then the latest ones. Stretches of runs that do not fit are folded and counted.
 */
export function conversationText(runs: readonly RunView[], options: ConversationOptions = {}): string {
  return inFormat(layOut(runs, fitConversation(runs, options), options).join("\n"), options)
}

export function conversationJson(runs: readonly RunView[], options: ConversationOptions = {}) {
  const { chosen } = fitConversation(runs, options)
  return {
    conversation_id: options.thread?.kind === "trace" ? null : (conversationIdOf(runs) ?? null),
    trace_id: options.thread?.kind === "trace" ? options.thread.id : null,
    runs: runs.filter((_, index) => chosen.has(index)).map(runJson),
    shown: chosen.size,
    total: runs.length,
  }
}

interface FittedConversation {
  readonly chosen: ReadonlySet<number>
  /** How many tokens the trees of the runs that are opened may cost. */
  readonly opened: ReadonlyMap<number, number>
}

function fitConversation(runs: readonly RunView[], options: ConversationOptions): FittedConversation {
  const { budget, count } = roomOf(options, USUAL_BUDGET, MIN_SKELETON_BUDGET)
  const { width } = options
  const foldCost = count(TYPICAL_FOLD) + 1
  const order = inOrderOfWorth(runs)

  const chosen = new Set<number>()
  let spent = count(titleOf(runs, runs.length, options)) + 1 + foldCost
  for (const index of order) {
    const cost = count(runLines(runs[index]!, width).join("\n")) + 1 + foldCost
    if (spent + cost > budget) continue
    spent += cost
    chosen.add(index)
  }

  const opened = new Map<number, number>()
  for (const index of order) {
    const left = budget - spent
    if (left < MIN_SKELETON_BUDGET * 1.5) break
    if (!chosen.has(index)) continue
    // No run takes all that is left while others wait.
    const waiting = chosen.size - opened.size
    const share = Math.max(MIN_SKELETON_BUDGET, Math.floor((left * 0.9) / Math.min(waiting, 4)))
    const cost = count(tree(runs[index]!, { budget: share, countTokens: count, width })) + 1
    if (spent + cost > budget) continue
    spent += cost
    opened.set(index, share)
  }
  return { chosen, opened }
}

const TYPICAL_FOLD = "… 1000 runs, all ok  (orangebox runs --conversation)"

function layOut(
  runs: readonly RunView[],
  { chosen, opened }: FittedConversation,
  options: ConversationOptions,
): string[] {
  const { color, countTokens = estimateTokens, width } = options
  const paint = color ?? plain
  const lines = wrapped(titleOf(runs, chosen.size, options), width).map((line) => paint(line, "heading"))
  for (let index = 0; index < runs.length; ) {
    const start = index
    while (index < runs.length && !chosen.has(index)) index += 1
    if (index > start) lines.push(paint(foldWords(runs.slice(start, index)), "dim"))
    const run = runs[index]
    if (!run) break
    lines.push(...runLines(run, width, paint))
    const share = opened.get(index)
    if (share !== undefined) lines.push(tree(run, { budget: share, countTokens, width }, color))
    index += 1
  }
  return lines
}

const wrapped = (line: string, width = Number.POSITIVE_INFINITY): string[] =>
  wrapText(line, width, { at: " · ", indent: "    " })

function titleOf(runs: readonly RunView[], shown: number, { thread }: ConversationOptions): string {
  const { kind, id } = thread ?? { kind: "conversation", id: conversationIdOf(runs) }
  const wrong = runs.filter(wentWrong).length
  const total = runs.reduce((sum, run) => sum + (run.totals.tokens.input ?? 0), 0)
  const parts = [id === undefined ? kind : `${kind} ${recordedWord(id, 48)}`]
  // The operator's own id is not on record under `hashed`; what stands in the runs and in documents is.
  const recorded = kind === "conversation" ? conversationIdOf(runs) : undefined
  if (recorded !== undefined && recorded !== id) parts.push(`recorded as ${recordedWord(recorded, 48)}`)
  parts.push(shown === runs.length ? plural(runs.length, "run") : `${shown} of ${plural(runs.length, "run")} shown`)
  if (wrong > 0) parts.push(`${wrong} went wrong`)
  if (total > 0) parts.push(`${formatCount(total)} tokens in`)
  return parts.join(" · ")
}

const conversationIdOf = (runs: readonly RunView[]): string | undefined =>
  runs.find((run) => run.conversationId !== undefined)?.conversationId

function runLines(run: RunView, width: number | undefined, paint = plain): string[] {
  const header = cutToWidth(headerOf(run), 200)
  const asked = run.input === undefined ? [] : [recordedText(run.input, 80)]
  if (!wentWrong(run)) return wrapped([header, ...asked].join("  "), width)
  const step = stepToLookAt(run)
  const error = step?.error ?? run.steps[0]?.error
  const where = step && step.n > 1 ? ` in #${step.n}` : ""
  const said = run.crash ? crashWords(run.crash) : `${error ? errorWords(error, 120) : "no end recorded"}${where}`
  const trouble = [...asked, `✗ ${said}`].join("  ")
  const below = wrapped(trouble, width && width - 2).map((line) => paint(`  ${line}`, "bad"))
  return [...wrapped(header, width), ...below]
}

/** The run's own lines, set in below its header. */
function tree(
  run: RunView,
  {
    width,
    ...limits
  }: { readonly budget: number; readonly countTokens: CountTokens; readonly width: number | undefined },
  color?: Painter,
): string {
  const room = width === undefined ? {} : { width: width - 2 }
  return skeletonRows(run, { ...limits, ...room, ...(color === undefined ? {} : { color }) }).replace(/^/gm, "  ")
}

function foldWords(hidden: readonly RunView[]): string {
  const wrong = hidden.filter(wentWrong).length
  return `… ${plural(hidden.length, "run")}, ${wrong === 0 ? "all ok" : `${wrong} went wrong`}`
}

const wentWrong = (run: RunView): boolean => run.status !== "completed" && run.status !== "running"

function inOrderOfWorth(runs: readonly RunView[]): number[] {
  const indices = runs.map((_, index) => index)
  const latestFirst = indices.toReversed()
  return [
    ...latestFirst.filter((index) => wentWrong(runs[index]!)),
    ...latestFirst.filter((index) => !wentWrong(runs[index]!)),
  ]
}
