import { type CountTokens, cutToTokens, estimateTokens, plural, recordedWord } from "@orangebox/text"
import type { DiffItem, RunDiff } from "../generated.js"
import {
  changeWords,
  countWords,
  figureWords,
  inheritWords,
  itemAddress,
  itemName,
  outcomeWords,
  payloadLines,
  pointerWord,
  replayWords,
  rootAbsentWords,
  weightWords,
} from "./format-item.js"

export interface DiffTextOptions {
  /** At most this many tokens; at least `MIN_DIFF_BUDGET`. Default 600. */
  readonly budget?: number
  /** Every line, whatever it costs. */
  readonly all?: boolean
  readonly countTokens?: CountTokens
}

export const DEFAULT_DIFF_BUDGET = 600
/** Below this, not even the verdict and where the runs went apart fit. */
export const MIN_DIFF_BUDGET = 200

/**
 * A diff for a reader who pays by the token: one fact a line, the most telling first in line for the budget. Recorded text is a bare word
 * or in double quotes; everything else is ours. The last line says what did not fit.
 */
export function diffText(diff: RunDiff, options: DiffTextOptions = {}): string {
  const count = options.countTokens ?? estimateTokens
  const budget = Math.max(options.budget ?? DEFAULT_DIFF_BUDGET, MIN_DIFF_BUDGET)
  const lines = linesOf(diff)
  if (options.all) return [...lines.map(({ text }) => text), footer(diff, 0)].join("\n")

  const longest = Math.floor(budget / 5)
  const header = lines[0]!
  const chosen = new Set([header])
  let left = budget - count(header.text) - count(footer(diff, lines.length)) - 2
  const cuts = new Map<Line, string>()
  for (const line of [...lines].sort((x, y) => x.rank - y.rank)) {
    if (chosen.has(line) || line.rank === Number.POSITIVE_INFINITY) continue
    const text = cutToTokens(line.text, longest, count)
    const cost = count(text) + 1
    if (cost > left) continue
    chosen.add(line)
    cuts.set(line, text)
    left -= cost
  }
  const shown = lines.filter((line) => chosen.has(line)).map((line) => cuts.get(line) ?? line.text)
  return [...shown, footer(diff, lines.length - chosen.size)].join("\n")
}

/** A line and its turn when the budget is handed out, never for infinity; ties go by place. */
interface Line {
  readonly text: string
  readonly rank: number
}

const WIDTH = 72

function linesOf(diff: RunDiff): Line[] {
  const { items, root, first, decisive, carry, outcome } = diff
  const lines: Line[] = [{ text: headerOf(diff), rank: 0 }]
  const told = new Set<number>()
  const tell = (label: string, index: number, rank: number, details: number): void => {
    const item = items[index]!
    const isNew = !told.has(index)
    told.add(index)
    const words = isNew ? `${itemName(item)} ${weightWords(item)}: ${changeWords(item)}` : "the same step"
    lines.push({ text: `${label} ${itemAddress(item)} ${words}`, rank })
    if (isNew) lines.push(...detailsOf(item, diff, details))
  }
  if (root !== null) tell("ROOT", root, 1, 4)
  const absent = rootAbsentWords(diff)
  if (absent !== undefined) lines.push({ text: `ROOT none: ${absent}`, rank: 2 })
  if (first !== null && first !== root) tell("FIRST", first, 1, 5)
  if (decisive !== null) tell(decisive.effect === "write" ? "DECISIVE" : "DECISIVE?", decisive.item, 3, 6)
  if (carry !== null) {
    const to = itemAddress(items[carry.to]!)
    const value = recordedWord(carry.value, 60)
    lines.push({
      text: `carry ${itemAddress(items[carry.from]!)} output ${value} -> ${to} input ${pointerWord(carry.ptr)}`,
      rank: 6,
    })
  }
  lines.push(...restOf(diff, told))
  if (outcome.differs) lines.push({ text: `OUTCOME ${outcomeWords(outcome, WIDTH)}`, rank: 3 })
  for (const words of [replayWords("a", diff.a), replayWords("b", diff.b)]) {
    if (words !== undefined) lines.push({ text: words, rank: 5 })
  }
  if (diff.verdict === "differs") lines.push({ text: figureWords(diff), rank: 6 })
  for (const note of diff.notes) lines.push({ text: `note ${note.code}: ${note.text}`, rank: 4 })
  return lines
}

function headerOf(diff: RunDiff): string {
  const { a, b, regime, verdict } = diff
  return `diff ${a.run_id ?? "?"}..${b.run_id ?? "?"} ${verdict} regime=${regime} steps ${a.steps}/${b.steps} ${countWords(diff)}`
}

function detailsOf(item: DiffItem, { items }: RunDiff, rank: number): Line[] {
  return (item.payloads ?? []).flatMap((payload) => {
    const inherits = inheritWords(payload, items)
    return [...payloadLines(payload, WIDTH), ...(inherits === undefined ? [] : [inherits])].map((text, index) => ({
      text: `  ${text}`,
      rank: rank + Math.min(index, 20) / 4,
    }))
  })
}

/** What is not told yet: a line for each stretch of one cause, and behind it, budget permitting, a line for each of its items. */
function restOf({ items }: RunDiff, told: ReadonlySet<number>): Line[] {
  const lines: Line[] = []
  let stretch: number[] = []
  const close = (): void => {
    if (stretch.length === 0) return
    const [first, last] = [items[stretch[0]!]!, items[stretch.at(-1)!]!]
    if (stretch.length === 1) {
      lines.push({ text: lineOf(first), rank: 8 })
    } else {
      const said = new Set(stretch.map((index) => wordsOf(items[index]!)))
      const counts = new Map<string, number>()
      for (const index of stretch) counts.set(items[index]!.change, (counts.get(items[index]!.change) ?? 0) + 1)
      const kinds = [...counts].map(([change, count]) => `${change} ${count}`).join(", ")
      const range = `${itemAddress(first)}..${itemAddress(last)} ${first.cause} (${stretch.length})`
      lines.push({ text: `${range}: ${said.size === 1 ? sharedWords(first) : kinds}`, rank: 7 })
      // A line for each that says what the line for all says is worth no token.
      const rank = (index: number): number => (said.size === 1 ? Number.POSITIVE_INFINITY : 10 + index / items.length)
      for (const index of stretch) lines.push({ text: `  ${lineOf(items[index]!)}`, rank: rank(index) })
    }
    stretch = []
  }
  items.forEach((item, index) => {
    if (item.cause === null || told.has(index)) return
    if (stretch.length > 0 && items[stretch[0]!]!.cause !== item.cause) close()
    stretch.push(index)
  })
  close()
  return lines
}

const wordsOf = (item: DiffItem): string => `${itemName(item)} ${weightWords(item)}: ${changeWords(item)}`
/** The same where the cause is said already. */
const sharedWords = (item: DiffItem): string =>
  `${[itemName(item), item.tiers.join("+")].filter((part) => part !== "").join(" ")}: ${changeWords(item)}`
const lineOf = (item: DiffItem): string => `${itemAddress(item)} ${wordsOf(item)}`

function footer(diff: RunDiff, leftOut: number): string {
  const out: string[] = []
  if (leftOut > 0) out.push(`${plural(leftOut, "line")} left out (--all)`)
  if (diff.payloads_left_out > 0) out.push(`payloads of ${plural(diff.payloads_left_out, "step")} not compared`)
  return `more: ${[...out, "--json has every item"].join(" · ")}`
}
