import type { MaskType } from "@orangebox/dialects"
import {
  DEFAULT_DIFF_BUDGET,
  diffColumns,
  diffHtml,
  diffText,
  exitCodeOf,
  MIN_DIFF_BUDGET,
  type RunDiff,
  type Tier,
} from "@orangebox/replay"
import { estimateTokens, plain } from "@orangebox/text"
import { diffRunsAt } from "../diff/diff-runs.js"
import type { Answer, Shown } from "./answer.js"
import { itemsAt, itemsText, type Places, type StepAt } from "./diff-at-step.js"
import { answerExact, type ExactAsked } from "./diff-exact.js"
import type { PlacedReading } from "./placed.js"

export interface DiffAsked extends ExactAsked {
  readonly mask?: readonly MaskType[]
  /** Everything about one step. */
  readonly at?: StepAt
  readonly all?: boolean
  readonly columns?: boolean
  /** Side by side, only these differences. */
  readonly tier?: readonly Tier[]
}

/** Where there is room for two columns, runs are shown in them unless a budget says otherwise. */
type DiffShown = Shown & { readonly isWide?: boolean }

/** Of two runs there is also a page. */
export interface DiffAnswer extends Answer {
  html?(): string
}

/** Two runs, or two steps or bodies to the byte. */
export async function answerDiff(
  a: PlacedReading,
  b: PlacedReading,
  asked: DiffAsked,
  shown: DiffShown,
): Promise<DiffAnswer> {
  const exact = await answerExact(a, b, asked, shown)
  if (exact !== undefined) return exact
  const found = await diffRunsAt(a, b, {
    ...(asked.mask === undefined ? {} : { masks: asked.mask }),
    ...(asked.at === undefined && !asked.all ? {} : { payloads: Number.POSITIVE_INFINITY }),
  })
  const places = placesOf(a, found.a.run_id ?? "", b, found.b.run_id ?? "")
  const behind = { behind_bytes: Math.max(a.freshness.behind_bytes, b.freshness.behind_bytes) }
  const items = asked.at === undefined ? undefined : itemsAt(found, asked.at)
  return {
    text: () =>
      items === undefined ? textOf(found, asked, shown, places) : itemsText(found, items, places, shown.color ?? plain),
    json: () => {
      if (items === undefined) return { ...found, ...behind }
      const listed = items.map(({ index, item }) => ({ index, ...item }))
      const { v, regime, verdict } = found
      return { v, regime, verdict, a: found.a, b: found.b, items: listed, ...behind }
    },
    html: () => diffHtml(found),
    isBad: exitCodeOf(found) !== 0,
  }
}

interface DiffPlaces extends Places {
  /** Both runs as the arguments of one command. */
  readonly both: string
}

function placesOf(a: PlacedReading, runIdA: string, b: PlacedReading, runIdB: string): DiffPlaces {
  // The data folder is named once, in front of whichever run is stored there.
  const both = a.store ? [a.place(runIdA), b.word(runIdB)] : [a.word(runIdA), b.place(runIdB)]
  return { a: a.place(runIdA), b: b.place(runIdB), both: both.join(" ") }
}

function textOf(found: RunDiff, asked: DiffAsked, shown: DiffShown, places: DiffPlaces): string {
  const all = asked.all ? { all: true } : {}
  const next = nextWords(found, places.both)
  if (asked.columns || asked.tier || (shown.isWide && shown.budget === undefined)) {
    const paint = shown.color ?? plain
    const text = diffColumns(found, {
      ...all,
      ...(shown.width === undefined ? {} : { width: shown.width }),
      color: paint,
      ...(asked.tier ? { tiers: asked.tier } : {}),
    })
    return next === undefined ? text : `${text}\n${paint(next, "dim")}`
  }
  const budget = shown.budget ?? DEFAULT_DIFF_BUDGET
  const left = budget - (next === undefined ? 0 : estimateTokens(next) + 1)
  if (next === undefined || left < MIN_DIFF_BUDGET) return diffText(found, { ...all, budget })
  return `${diffText(found, { ...all, budget: left })}\n${next}`
}

/** The step to look at: where the runs went apart, or first differ. */
function nextWords({ root, first, items }: RunDiff, both: string): string | undefined {
  const item = items[root ?? first ?? -1]
  if (!item) return undefined
  const n = item.a && item.b && item.a.n === item.b.n ? item.a.n : item.a ? `a${item.a.n}` : `b${item.b!.n}`
  return `next: orangebox diff ${both} --at ${n}`
}
