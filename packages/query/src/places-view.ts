import { cutToTokens, padToWidth, plain, plural, recordedWord, safeLine, snakeJson } from "@orangebox/text"
import { stepWords } from "./format-skeleton.js"
import { inFormat, lastOf, pageJson, pageOf, rangeWords, roomOf, type ViewOptions } from "./page.js"
import type { RunView, StepView } from "./run-view.js"
import { stepSummaryJson } from "./skeleton-json.js"

/** A step in which an id stands. */
export interface PlaceView {
  readonly runId: string | null
  /** Undefined for what was said outside any run. */
  readonly run: RunView | undefined
  readonly no: number | null
  readonly eventType: string
  /** How many events of the step have the id. */
  readonly events: number
  readonly atMs: number
  /** The conversation of each run it caused, where that is on record. */
  readonly causedIn: ReadonlyMap<string, string>
}

/** The places of one id in order of time, from one of them on. */
export interface PlacesView {
  /** In our words, before the id. */
  readonly title: string
  readonly kind: string
  readonly id: string
  readonly from: number
  readonly places: readonly PlaceView[]
  readonly total: number
}

/** The budget is at least `MIN_PLACES_BUDGET`, and 1,000 tokens where none is said. */
export interface PlacesOptions extends ViewOptions {
  /** How the reader addressed the id, for the command in the footer. */
  readonly address: string
}

const USUAL_BUDGET = 1000
export const MIN_PLACES_BUDGET = 200

/** Every place of an id, one line each under the run it is in. */
export function placesText(view: PlacesView, options: PlacesOptions): string {
  const paint = options.color ?? plain
  const page = placesPage(view, options)
  const lines = [paint(page.title, "heading")]
  let run: PlaceView["runId"] | undefined
  page.rows.forEach((place, index) => {
    if (place.runId !== run) lines.push(paint(page.headingOf(place), "number"))
    run = place.runId
    lines.push(page.texts[index]!)
  })
  lines.push(paint(footerOf(page, options), "dim"))
  return inFormat(lines.join("\n"), options)
}

export function placesJson(view: PlacesView, options: PlacesOptions) {
  const page = placesPage(view, options)
  const { kind, id } = view
  return { kind, id, places: page.rows.map(placeJson), ...pageJson(page) }
}

/** Names are cut by tokens too, not by width alone: one sign of a joined emoji is as wide as two letters and costs a dozen tokens. */
const MOST_HEADING_TOKENS = 60

function placesPage(view: PlacesView, options: PlacesOptions) {
  const { budget, count } = roomOf(options, USUAL_BUDGET, MIN_PLACES_BUDGET)
  const headingOf = (place: PlaceView): string => cutToTokens(runWords(place), MOST_HEADING_TOKENS, count)
  const title = cutToTokens(titleOf(view), MOST_HEADING_TOKENS, count)
  const frame = count(title) + count(footerOf(lastOf(view.total), options)) + 4
  const textOf = (place: PlaceView, most: number): string => cutToTokens(placeText(place), most, count)
  const page = pageOf(view.places, 0, { budget: budget - frame, count }, { textOf, headingOf })
  return { ...page, title, headingOf, from: view.from, to: view.from + page.to, total: view.total }
}

/** What is counted beyond the number of places is counted only where all of them are at hand. */
function titleOf({ title, id, places, total }: PlacesView): string {
  const parts = [`${title}${recordedWord(id, 80)}`]
  if (places.length < total) return [...parts, plural(total, "place")].join(" · ")
  const runs = new Set(places.map(({ runId }) => runId)).size
  parts.push(`${plural(total, "place")} in ${plural(runs, "run")}`)
  const kinds = new Map<string, number>()
  for (const place of places) {
    const kindOfWork = stepOf(place)?.workKind
    if (kindOfWork !== undefined) kinds.set(kindOfWork, (kinds.get(kindOfWork) ?? 0) + 1)
  }
  return [...parts, ...[...kinds].map(([name, count]) => `${recordedWord(name, 24)} ${count}`)].join(" · ")
}

const stepOf = ({ run, no }: PlaceView): StepView | undefined => (no === null ? undefined : run?.steps[no - 1])

function runWords({ runId, run }: PlaceView): string {
  if (runId === null) return "outside any run"
  const names = [run?.app, run?.entrypoint].filter((name) => name !== undefined).map((name) => recordedWord(name, 40))
  const conversation = run?.conversationId === undefined ? [] : [`in ${recordedWord(run.conversationId, 48)}`]
  return [recordedWord(runId, 40), ...names, ...(run ? [run.status] : []), ...conversation].join(" · ")
}

function placeText(place: PlaceView): string {
  const step = stepOf(place)
  const at = new Date(place.atMs).toISOString().replace("T", " ").slice(0, 23)
  const head = `  ${padToWidth(place.no === null ? "" : `#${place.no}`, 5)} ${at}`
  if (!step) return `${head}  ${safeLine(place.eventType)}`
  const words = stepWords(step, false)
  const caused = step.links
    .filter((link) => link.kind === "caused" && link.run_id !== undefined)
    .map(({ run_id }) => {
      const conversation = place.causedIn.get(run_id!)
      return `caused ${recordedWord(run_id!, 40)}${conversation === undefined ? "" : ` in ${recordedWord(conversation, 48)}`}`
    })
  return [head, [words.label, ...caused].join(" · "), words.verdict].filter((part) => part !== "").join("  ")
}

function placeJson(place: PlaceView) {
  const { runId, run, eventType, events, atMs, causedIn } = place
  const step = stepOf(place)
  return {
    ...snakeJson({ runId, conversationId: run?.conversationId, eventType }),
    at: new Date(atMs).toISOString(),
    mentions: events,
    caused: [...causedIn].map(([id, conversationId]) => snakeJson({ runId: id, conversationId })),
    ...(step ? stepSummaryJson(step) : {}),
  }
}

function footerOf(page: Parameters<typeof rangeWords>[1], { address }: PlacesOptions): string {
  const next = page.to < page.total ? ` · next: orangebox show ${address} --cursor ${page.to}` : ""
  return `${rangeWords("places", page)}${next}`
}
