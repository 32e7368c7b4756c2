import {
  type CountTokens,
  cutToWidth,
  estimateTokens,
  fenced,
  formatCount,
  type Painter,
  plural,
  recordedText,
  recordedWord,
} from "@orangebox/text"
import { headerOf, stepToLookAt } from "./format-run.js"
import { errorWords } from "./format-skeleton.js"
import type { RunView } from "./run-view.js"
import { MIN_SKELETON_BUDGET, skeletonRows } from "./skeleton.js"
import { type RunJson, runJson } from "./skeleton-json.js"

export interface ConversationOptions {
  /** At most this many tokens; at least `MIN_SKELETON_BUDGET`. Default 4,000. */
  readonly budget?: number
  readonly format?: "text" | "markdown"
  /** Columns of the reader's terminal. Default: nothing limits a line. */
  readonly width?: number
  readonly color?: Painter
  readonly countTokens?: CountTokens
}

export const DEFAULT_CONVERSATION_BUDGET = 4000

/**
 * A whole conversation: a line or two for every run, oldest first, and below it the run's own skeleton where the budget reaches. Runs that
 * went wrong are opened first, then the latest ones. Stretches of runs that do not fit are folded and counted.
 */
export function conversationText(runs: readonly RunView[], options: ConversationOptions = {}): string {
  const text = layOut(runs, fitConversation(runs, options), options).join("\n")
  return options.format === "markdown" ? fenced(text) : text
}

export interface ConversationJson {
  readonly conversation_id: string | null
  readonly runs: readonly RunJson[]
  readonly shown: number
  readonly total: number
}

export function conversationJson(runs: readonly RunView[], options: ConversationOptions = {}): ConversationJson {
  const { chosen } = fitConversation(runs, options)
  return {
    conversation_id: conversationIdOf(runs) ?? null,
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
  const count = options.countTokens ?? estimateTokens
  const fence = options.format === "markdown" ? count(fenced("")) + 4 : 0
  const budget = Math.max(options.budget ?? DEFAULT_CONVERSATION_BUDGET, MIN_SKELETON_BUDGET) - fence
  const foldCost = count(TYPICAL_FOLD) + 1
  const order = inOrderOfWorth(runs)

  const chosen = new Set<number>()
  let spent = count(titleOf(runs, runs.length)) + 1 + foldCost
  for (const index of order) {
    const cost = count(runLines(runs[index]!).join("\n")) + 1 + foldCost
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
    const cost = count(tree(runs[index]!, share, count, undefined)) + 1
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
  { color, countTokens }: ConversationOptions,
): string[] {
  const paint: Painter = color ?? ((text) => text)
  const lines = [paint(titleOf(runs, chosen.size), "heading")]
  for (let index = 0; index < runs.length; ) {
    const start = index
    while (index < runs.length && !chosen.has(index)) index += 1
    if (index > start) lines.push(paint(foldWords(runs.slice(start, index)), "dim"))
    const run = runs[index]
    if (!run) break
    const [head, ...rest] = runLines(run)
    lines.push(head!, ...rest.map((line) => paint(line, "bad")))
    const share = opened.get(index)
    if (share !== undefined) lines.push(tree(run, share, countTokens ?? estimateTokens, color))
    index += 1
  }
  return lines
}

function titleOf(runs: readonly RunView[], shown: number): string {
  const id = conversationIdOf(runs)
  const wrong = runs.filter(wentWrong).length
  const total = runs.reduce((sum, run) => sum + run.totals.tokens.input, 0)
  const parts = [id === undefined ? "conversation" : `conversation ${recordedWord(id, 48)}`]
  parts.push(shown === runs.length ? plural(runs.length, "run") : `${shown} of ${plural(runs.length, "run")} shown`)
  if (wrong > 0) parts.push(`${wrong} went wrong`)
  if (total > 0) parts.push(`${formatCount(total)} tokens in`)
  return parts.join(" · ")
}

const conversationIdOf = (runs: readonly RunView[]): string | undefined =>
  runs.find((run) => run.conversationId !== undefined)?.conversationId

function runLines(run: RunView): string[] {
  const lines = [cutToWidth(headerOf(run), 200)]
  const asked = run.input === undefined ? [] : [recordedText(run.input, 80)]
  if (wentWrong(run)) {
    const step = stepToLookAt(run)
    const error = step?.error ?? run.steps[0]?.error
    const said = run.crash ? "process died" : error ? errorWords(error, 120) : "no end recorded"
    lines.push(`  ${[...asked, `✗ ${said}${step && step.n > 1 ? ` in #${step.n}` : ""}`].join("  ")}`)
  } else if (asked.length > 0) {
    lines[0] += `  ${asked[0]}`
  }
  return lines
}

function tree(run: RunView, budget: number, countTokens: CountTokens, color: Painter | undefined): string {
  return skeletonRows(run, { budget, countTokens, ...(color === undefined ? {} : { color }) }).replace(/^/gm, "  ")
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
