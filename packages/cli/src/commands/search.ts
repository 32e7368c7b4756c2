import { EVENT_TYPES, given } from "@orangebox/contract"
import { findRun, type NumberedHit, searchRuns } from "@orangebox/reader"
import type { SearchPlace } from "@orangebox/store"
import {
  cutToWidth,
  formatMoment,
  type Painter,
  plural,
  recordedWord,
  safeJson,
  safeLine,
  snakeJson,
} from "@orangebox/text"
import type { Command } from "commander"
import { choiceParser, parsePositive } from "../option-values.js"
import { withReading } from "../reading.js"
import { bindShell, type GlobalOptions, type Session, wrongUsage } from "../session.js"

interface SearchOptions {
  readonly run?: string
  readonly kind?: string
  readonly limit?: number
  readonly cursor?: string
}

export function define(command: Command, session: Session): void {
  command
    .description("Search everything recorded: prompts, answers, tool calls and their results, logs.")
    .argument("<words...>", 'words that must all occur, as words or parts of words; "in quotes" exactly so')
    .option("--run <address>", "only in this run")
    .option("--kind <event type>", "only in events of this type and their bodies", choiceParser(EVENT_TYPES))
    .option("--limit <n>", "how many", parsePositive, 20)
    .option("--cursor <cursor>", "where the page before ended")
  bindShell<SearchOptions>(command, session, search, [
    ["orangebox search timeout", "everything that mentions it"],
    ["orangebox search leap year --kind tool_result", "both words, in tool results"],
    ["orangebox search '\"exit code 1\"' --run last", "the exact phrase, in the last run"],
  ])
}

function search(session: Session, options: SearchOptions & GlobalOptions, ...words: string[]): Promise<undefined> {
  const text = words.join(" ")
  if (text.replaceAll('"', "").trim() === "") {
    throw wrongUsage("there is nothing to search for", "Name a word, a part of one, or a phrase in quotes")
  }
  return withReading(session, options, async ({ store, freshness }) => {
    const { terminal } = session
    const run = options.run === undefined ? undefined : await findRun(store, options.run)
    const { hits, ...page } = await searchRuns(store, {
      text,
      limit: options.limit ?? 20,
      ...given({ cursor: options.cursor, kind: options.kind }),
      ...(run === undefined ? {} : { runId: run.row.runId }),
    })
    if (options.json) {
      const { cursor = null, ...counts } = page
      const json = { hits: hits.map(hitJson), ...snakeJson(counts), cursor, ...freshness }
      terminal.out(safeJson(json, 2))
      return undefined
    }
    for (const hit of hits) terminal.out(hitText(hit, terminal.paint))
    const shown = hits.length === page.total ? "" : `${hits.length} of `
    const atLeast = page.isTotalExact ? "" : "at least "
    const more = page.cursor === undefined ? "" : ` · more with: --cursor ${page.cursor}`
    terminal.out(`${shown}${atLeast}${plural(page.total, "hit")} at ${plural(page.places, "place")}${more}`)
    return undefined
  })
}

const SNIPPET_WIDTH = 160

function hitText({ hit, n, also }: NumberedHit, paint: Painter): string {
  const place =
    hit.runId === null ? "outside any run" : `${recordedWord(hit.runId, 40)}${n === undefined ? "" : `#${n}`}`
  const at = formatMoment(hit.atMs)
  const { snippet } = hit
  const end = hit.at + hit.length
  const shown = [
    cutToWidth(safeLine(snippet.slice(0, hit.at)), SNIPPET_WIDTH),
    paint(safeLine(snippet.slice(hit.at, end)), "bad"),
    cutToWidth(safeLine(snippet.slice(end)), SNIPPET_WIDTH),
  ].join("")
  return `${paint(place, "heading")}  ${wordsOf(hit)}  ${paint(at, "dim")}\n  "${shown}"${alsoText(hit.placesTotal - 1, also)}`
}

const MOST_ALSO = 4

/** Where else in the run the passage stands: its prompt, its snapshot, the tools that said it again. */
function alsoText(total: number, also: NumberedHit["also"]): string {
  if (total === 0) return ""
  const told = also.slice(0, MOST_ALSO).map(({ hit, n }) => `${n === undefined ? "" : `#${n} `}${wordsOf(hit)}`)
  const rest = total - told.length
  return `\n  also ${told.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`
}

const wordsOf = ({ mode, eventType, field }: SearchPlace): string =>
  `${mode === "live" ? "" : `[${mode}] `}${recordedWord(eventType, 32)} ${recordedWord(field, 32)}`

function hitJson({
  hit: { atMs, at, length, sequenceNo: _, places: _places, placesTotal, ...hit },
  n,
  also,
}: NumberedHit) {
  return {
    ...snakeJson({ ...hit, n }),
    at: new Date(atMs).toISOString(),
    match: { at, length },
    places: placesTotal,
    also: also.map(({ hit: { stepId, eventId, eventType, field, hash }, n }) =>
      snakeJson({ n, stepId, eventId, eventType, field, hash }),
    ),
  }
}
