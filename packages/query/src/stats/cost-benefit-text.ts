import {
  type Column,
  formatBytes,
  formatCount,
  formatPercent,
  formatTable,
  plain,
  plural,
  recordedWord,
} from "@orangebox/text"
import type { ContributorFigures, ContributorNote, CostBenefit } from "./cost-benefit.js"
import { dollars, ORIGIN_WORDS, type StatsTextOptions } from "./stats-text.js"

type Cell = (row: ContributorFigures) => string

const right = (title: string, cell: Cell, dropRank?: number): [Column, Cell] => [
  { title, align: "right", ...(dropRank === undefined ? {} : { dropRank }) },
  cell,
]

const NOTES: Readonly<Record<ContributorNote, string>> = {
  never_called: "never called",
  not_seen_called: "not seen called",
  never_run: "no run on record",
  often_bad_input: "bad arguments",
  often_fails: "often fails",
  unknown_use: "use unknown",
}

const COSTS: readonly [Column, Cell][] = [
  [{ title: "CONTRIBUTOR", minWidth: 24, maxWidth: 36 }, ({ contributor }) => recordedWord(contributor)],
  right("PROMPTS", ({ prompts }) => String(prompts)),
  right("SIZE", ({ bytes, prompts }) => formatBytes(Math.round(bytes / prompts)), 4),
  right("≈TOKENS", ({ tokensPerPrompt }) => formatCount(tokensPerPrompt)),
  right("≈COST", ({ usd, unpricedPrompts }) => (usd === null ? "?" : dollars(usd) + (unpricedPrompts > 0 ? "+" : ""))),
]

const STANDING: readonly [Column, Cell][] = [
  ...COSTS,
  right("USES", usesWords),
  right("RUNS", ({ calls }) => (calls === null ? "–" : String(calls)), 3),
  right("OK", ({ calls, successes }) => (calls ? formatPercent(successes!, calls) : "–"), 1),
  right("BAD ARGS", ({ calls, badInput }) => (calls ? String(badInput) : "–"), 2),
  [{ title: "NOTE", minWidth: 16 }, ({ note }) => (note === null ? "" : NOTES[note])],
]

/** What a user says is first the newest message and then history. */
const nameOfRest: Cell = ({ contributor, kind }) =>
  kind === "history" ? recordedWord(contributor) : `${recordedWord(contributor)} (${recordedWord(kind)})`

/** A persona is not called. */
function usesWords({ kind, uses }: ContributorFigures): string {
  if (kind !== "tool-def" && kind !== "skill") return "–"
  return uses === null ? "?" : String(uses)
}

const DEFAULT_LIMIT = 20

/** What stands in every prompt against what it is used for, and below it what else prompts are made of. */
export function costBenefitText(
  table: CostBenefit,
  { width, paint = plain, limit = DEFAULT_LIMIT }: StatsTextOptions = {},
): string {
  const { standing, rest, firstDay, lastDay } = table
  const notCounted = table.notCounted.map(
    ({ origin, prompts }) => `not counted: ${plural(prompts, "prompt")} ${ORIGIN_WORDS[origin]} (--origin ${origin})`,
  )
  if (standing.length + rest.length === 0)
    return ["no prompt on record says what it was made of", ...notCounted].join("\n")
  const draw = (columns: readonly [Column, Cell][], rows: readonly ContributorFigures[]): string => {
    const shown = rows.slice(0, limit)
    const text = formatTable(
      columns.map(([column]) => column),
      shown.map((row) => columns.map(([, cell]) => cell(row))),
      {
        ...(width === undefined ? {} : { width }),
        paint: (cell, row, title) => (title === "NOTE" && shown[row]!.note !== null ? paint(cell, "warn") : cell),
      },
    )
    return rows.length > shown.length ? `${text}\n${rows.length - shown.length} more: --limit ${rows.length}` : text
  }
  const days = firstDay === lastDay ? firstDay! : `${firstDay} … ${lastDay}`
  const idle = standing.filter(({ note }) => note === "never_called")
  const idleUsd = idle.reduce<number | null>((sum, { usd }) => (usd === null ? sum : (sum ?? 0) + usd), null)
  const idleWords =
    idle.length === 0
      ? ""
      : ` · ${plural(idle.length, "tool")} never called${idleUsd === null ? "" : `, ≈${dollars(idleUsd)}`}`
  return [
    `${days}, whole days in UTC${idleWords}`,
    ...(standing.length > 0 ? [draw(STANDING, standing)] : []),
    ...(rest.length > 0
      ? [draw([[{ ...COSTS[0]![0], title: "ALSO IN PROMPTS" }, nameOfRest], ...COSTS.slice(1)], rest)]
      : []),
    [
      "≈ by its share of each prompt's length; what was cached at the price of a read",
      "USES: asked for by a model, or loaded (skills); ? is unknown",
      ...notCounted,
    ].join("\n"),
  ].join("\n\n")
}
