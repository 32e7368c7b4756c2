import { given } from "@orangebox/contract"
import {
  conversationJson,
  conversationText,
  placesJson,
  placesText,
  skeletonJson,
  skeletonText,
  topFindingLine,
} from "@orangebox/query"
import type { Target, TraceReader } from "@orangebox/store"
import { shellWord } from "@orangebox/text"
import { findPlaces, placesOutside } from "../address/find-places.js"
import { findTarget, runOf } from "../address/find-target.js"
import { diagnoseRun } from "../diagnosis/diagnose-run.js"
import { loadRuns } from "../run/load-run.js"
import type { Answer, Shown } from "./answer.js"
import { inFolder, type PlacedReading } from "./placed.js"

export interface ShowAsked {
  /** Read on from this step. */
  readonly at?: number
  /** Every place of the id, whatever it is. */
  readonly places?: boolean
  readonly logs?: boolean
}

/** A run, one line per step; a conversation; or every place of an id that stands in several. */
export async function answerShow(reading: PlacedReading, asked: ShowAsked, shown: Shown): Promise<Answer> {
  const { reader, store, data, freshness } = reading
  const target = await findTarget(reader, reading.address)
  const isListAsked = asked.places === true || shown.cursor !== undefined
  if (store && (isListAsked || MAY_HAVE_MANY.has(target.kind))) {
    const seen = { ...shown, address: inFolder(data, shellWord(reading.address)) }
    const thread = isListAsked ? undefined : await threadOf(store, target, seen)
    const answer = thread ?? (await placesOf(store, target, seen, isListAsked))
    if (answer !== undefined) return { ...answer, json: () => ({ ...answer.json(), ...freshness }) }
  }
  const run = await runOf(reader, target)
  const at = asked.at ?? run.view.steps.find(({ id }) => id === target.stepId)?.n
  const address = reading.place(run.row.runId)
  const finding = topFindingLine(await diagnoseRun(reader, store, run, { data }), address)
  const skeleton = { ...shown, address, ...given({ at, finding, logs: asked.logs }) }
  return {
    text: () => skeletonText(run.view, skeleton),
    json: () => ({ ...skeletonJson(run.view, skeleton), ...freshness }),
  }
}

/** A run or a step is one place, and its skeleton says more of it than a list. */
const MAY_HAVE_MANY: ReadonlySet<Target["kind"]> = new Set([
  ...(["conversation", "trace", "message", "tool_call", "provider_request"] as const),
  ...(["request", "artifact", "lane", "body"] as const),
])

/** What a list of places is shown with. */
type PlacesShown = Shown & { readonly address: string }

/** The runs of a conversation or a trace. A conversation may also be named by runs that are not in it: who sent something there, or away. */
async function threadOf(
  store: TraceReader,
  { kind, id }: Target,
  { address, ...view }: PlacesShown,
): Promise<Answer | undefined> {
  if (kind !== "conversation" && kind !== "trace") return undefined
  const runs = await loadRuns(store, kind === "trace" ? { traceId: id } : { conversationId: id })
  if (runs.length < (kind === "trace" ? 2 : 1)) return undefined
  const thread = { ...view, thread: { kind, id } }
  const outside = kind === "trace" ? undefined : await placesOutside(store, id, runs)
  const places = { ...view, address: `${address} --places`, budget: OUTSIDE_BUDGET }
  return {
    text: () => {
      const text = conversationText(runs, thread)
      return outside && outside.total > 0 ? `${text}\n${placesText(outside, places)}` : text
    },
    json: () => ({
      ...conversationJson(runs, thread),
      ...(outside ? { named_outside: placesJson(outside, places) } : {}),
    }),
  }
}

/** Beside the runs of a conversation: who else names it, and how to read on. */
const OUTSIDE_BUDGET = 400

/** Undefined for a single place, unless the list is asked for. */
async function placesOf(
  store: TraceReader,
  target: Target,
  shown: PlacesShown,
  isListAsked: boolean,
): Promise<Answer | undefined> {
  const places = await findPlaces(store, target, shown.cursor)
  if (places.total < 2 && !isListAsked && target.runId !== null) return undefined
  return { text: () => placesText(places, shown), json: () => placesJson(places, shown) }
}
