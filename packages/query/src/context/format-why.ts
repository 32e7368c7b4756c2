import {
  type CountTokens,
  formatCount,
  type Painter,
  padToWidth,
  plain,
  plural,
  recordedText,
  recordedWord,
  snakeJson,
} from "@orangebox/text"
import { inFormat, pageJson, pageOf, rangeWords, roomOf, type ViewOptions } from "../page.js"
import { roundedScore } from "./context-rows.js"
import type { ItemHistory, Sighting, WhyView } from "./why-item.js"

/** The budget is at least `MIN_WHY_BUDGET`, and 2,000 tokens where none is said. */
export interface WhyOptions extends ViewOptions {
  /** The command that goes on, but for its cursor. */
  readonly command: string
}

const USUAL_BUDGET = 2000
export const MIN_WHY_BUDGET = 320

/** For one item, or the few that fit what was typed: where it was included, where left out and why, where it was not at all. */
export function whyText(why: WhyView, options: WhyOptions): string {
  const paint = options.color ?? plain
  const { items, linesOf, to } = whyPage(why, options)
  const lines = [paint(titleOf(why), "heading"), ...items.flatMap((item) => blockOf(item, linesOf.get(item)!, paint))]
  lines.push(paint(footerOf(why, to, options), "dim"))
  return inFormat(lines.join("\n"), options)
}

/** The same for programs, every context on its own; print it with `safeJson`. */
export function whyJson(why: WhyView, options: Omit<WhyOptions, "format" | "color">) {
  const { wanted, matchedBy, contexts, from, total } = why
  const { items, to } = whyPage(why, options)
  return { ...snakeJson({ wanted, matchedBy, contexts, items }), ...pageJson({ from, to, total }) }
}

function whyPage(why: WhyView, options: WhyOptions) {
  const { budget, count } = roomOf(options, USUAL_BUDGET, MIN_WHY_BUDGET)
  const left = budget - count(titleOf(why)) - count(footerOf(why, why.total - 1, options)) - 8
  const linesOf = new Map<ItemHistory, number>()
  const { rows } = pageOf(
    why.items,
    0,
    { budget: left, count },
    {
      textOf: (item, most) => {
        linesOf.set(item, linesThatFit(item, most, count))
        return blockOf(item, linesOf.get(item)!, plain).join("\n")
      },
    },
  )
  return { items: rows, linesOf, to: why.from + rows.length }
}

/** The first item of a page is there whatever it costs, but only as much of it as fits. */
function linesThatFit(item: ItemHistory, left: number, count: CountTokens): number {
  const lines = blockOf(item, Number.POSITIVE_INFINITY, plain)
  let used = 24
  const over = lines.findIndex((line) => {
    used += count(line) + 1
    return used > left
  })
  return over === -1 ? Number.POSITIVE_INFINITY : Math.max(1, over - 1)
}

function titleOf({ wanted, matchedBy, total, contexts }: WhyView): string {
  const asked = recordedText(wanted, 80)
  if (matchedBy === undefined)
    return `nothing in ${plural(contexts, "context")} is called ${asked}, and no text that is there holds it`
  return `${asked} in ${plural(contexts, "context")}: ${plural(total, "item")}, found by ${matchedBy}`
}

function blockOf(item: ItemHistory, most: number, paint: Painter): string[] {
  const text = item.text === undefined || item.text === "" ? [] : [recordedText(item.text, 60)]
  const hash = item.hash === undefined ? [] : [paint(recordedWord(item.hash, 19), "dim")]
  const title = [
    paint(recordedWord(item.id, 60), "number"),
    recordedWord(item.kind, 16),
    item.itemType,
    ...hash,
    ...text,
  ]
  const stretches = stretchesOf(item.sightings)
  const lines = stretches.slice(0, most).map((stretch) => stretchText(stretch, paint))
  const left = stretches.length - lines.length
  return [
    title.join("  "),
    ...lines,
    ...(left > 0 ? [`  … ${left} of ${stretches.length} more lines (raise --budget)`] : []),
  ]
}

interface Stretch {
  readonly first: Sighting
  readonly last: Sighting
  readonly count: number
}

/** Contexts in a row that say the same are one line. */
function stretchesOf(sightings: readonly Sighting[]): Stretch[] {
  const stretches: Stretch[] = []
  for (const sighting of sightings) {
    const open = stretches.at(-1)
    if (open && saysTheSame(open.last, sighting)) {
      stretches[stretches.length - 1] = { ...open, last: sighting, count: open.count + 1 }
    } else stretches.push({ first: sighting, last: sighting, count: 1 })
  }
  return stretches
}

function saysTheSame(before: Sighting, now: Sighting): boolean {
  // How it went is shown where it went; after that it is only not there.
  if (before.state === "absent" && now.state === "absent") return now.reason === undefined
  return (
    before.state === now.state &&
    before.reason === now.reason &&
    before.detail === now.detail &&
    before.fromTokens === now.fromTokens &&
    before.score === now.score &&
    !now.isChanged
  )
}

const STATE_WORDS: Readonly<Record<Sighting["state"], string>> = {
  included: "included",
  excluded: "left out",
  absent: "absent",
}

function stretchText({ first, last, count }: Stretch, paint: Painter): string {
  const steps = count === 1 ? `#${first.n}` : `#${first.n}–#${last.n}`
  const state = padToWidth(STATE_WORDS[first.state], 8)
  const tone = first.state === "included" ? "number" : first.state === "excluded" ? "warn" : "dim"
  const tokens =
    first.tokens === undefined
      ? []
      : [`${first.isEstimated ? "≈" : ""}${formatCount(first.tokens)} ${first.tokens === 1 ? "token" : "tokens"}`]
  const reason = first.reason === undefined ? [] : [`${first.state === "absent" ? "≈ gone by " : ""}${first.reason}`]
  const { detail, duplicateOf, score } = first
  const words = [
    padToWidth(steps, 12),
    paint(state, tone),
    ...(count === 1 ? [] : [`in ${count}`]),
    ...(first.isChanged ? [paint("changed", "warn")] : []),
    ...reason,
    ...(duplicateOf === undefined ? [] : [`of ${recordedWord(duplicateOf, 40)}`]),
    ...(detail === undefined || first.state === "absent" ? [] : [recordedText(detail, 60)]),
    ...(score === undefined ? [] : [`score ${roundedScore(score)}`]),
    ...tokens,
    ...(first.fromTokens === undefined ? [] : [`cut from ${formatCount(first.fromTokens)}`]),
    ...(first.position === undefined ? [] : [`at ${first.position}`]),
  ]
  return `  ${words.join("  ")}`.trimEnd()
}

function footerOf({ from, total }: WhyView, to: number, { command }: WhyOptions): string {
  if (total === 0) return "0 items"
  const rows = to - from === total ? plural(total, "item") : rangeWords("items", { from, to, total })
  return to < total ? `${rows} · next: ${command} --cursor ${to}` : rows
}
