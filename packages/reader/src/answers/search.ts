import { given } from "@orangebox/contract"
import type { SearchPlace } from "@orangebox/store"
import { formatMoment, type Painter, plain, plural, recordedWord, safeLine, snakeJson } from "@orangebox/text"
import { findRun } from "../address/find-target.js"
import type { StoreReading } from "../open/open-reading.js"
import { type NumberedHit, searchRuns } from "../run/search-runs.js"
import type { Answer, Shown } from "./answer.js"

export interface SearchAsked {
  readonly text: string
  /** An address: only in this run. */
  readonly run?: string
  readonly kind?: string
  readonly limit: number
  readonly cursor?: string
}

/** Where a text stands in what was recorded. */
export async function answerSearch(
  { store, freshness }: StoreReading,
  asked: SearchAsked,
  looks: Shown,
): Promise<Answer> {
  const { text, limit, cursor: from, kind } = asked
  const run = asked.run === undefined ? undefined : await findRun(store, asked.run)
  const { hits, ...page } = await searchRuns(store, {
    ...{ text, limit },
    ...given({ cursor: from, kind, runId: run?.row.runId }),
  })
  return {
    text: () => {
      const shown = hits.length === page.total ? "" : `${hits.length} of `
      const atLeast = page.isTotalExact ? "" : "at least "
      const more = page.cursor === undefined ? "" : ` · more with: --cursor ${page.cursor}`
      const count = `${shown}${atLeast}${plural(page.total, "hit")} at ${plural(page.places, "place")}${more}`
      return [...hits.map((hit) => hitText(hit, looks.color ?? plain)), count].join("\n")
    },
    json: () => {
      const { cursor = null, ...counts } = page
      return { hits: hits.map(hitJson), ...snakeJson(counts), cursor, ...freshness }
    },
  }
}

function hitText({ hit, n, also }: NumberedHit, paint: Painter): string {
  const place =
    hit.runId === null ? "outside any run" : `${recordedWord(hit.runId, 40)}${n === undefined ? "" : `#${n}`}`
  const at = formatMoment(hit.atMs)
  const { snippet } = hit
  const end = hit.at + hit.length
  const shown = [
    safeLine(snippet.slice(0, hit.at)),
    paint(safeLine(snippet.slice(hit.at, end)), "bad"),
    safeLine(snippet.slice(end)),
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
