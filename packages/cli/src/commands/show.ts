import { given } from "@orangebox/contract"
import {
  conversationJson,
  conversationText,
  MIN_SKELETON_BUDGET,
  placesJson,
  placesText,
  skeletonJson,
  skeletonText,
} from "@orangebox/query"
import { findPlaces, findTarget, loadRuns, placesOutside, runOf } from "@orangebox/reader"
import type { Target, TraceReader } from "@orangebox/store"
import { safeJson } from "@orangebox/text"
import type { Command } from "commander"
import { pasteable, shellWord } from "../next-command.js"
import { budgetParser, parseCount, parsePositive } from "../option-values.js"
import { withRunAt } from "../reading.js"
import { bindShell, type GlobalOptions, type Session } from "../session.js"
import { viewOptions } from "../view-options.js"

interface ShowOptions {
  readonly budget?: number
  readonly at?: number
  readonly places?: boolean
  readonly cursor?: number
  readonly all?: boolean
  readonly markdown?: boolean
}

export function define(command: Command, session: Session): void {
  command
    .description("Show a run, one line per step, a conversation, or every place of an id, and the run's digest.")
    .argument(
      "[address]",
      "a run, a step to read on from, a conversation, an exported file, or any id: a message, a tool call, a body …",
      "last",
    )
    .option(
      "--budget <tokens>",
      `at most so many tokens, at least ${MIN_SKELETON_BUDGET}; the rest is folded`,
      budgetParser(MIN_SKELETON_BUDGET),
    )
    .option("--at <n>", "read on from step #n: it, what is below it and what follows come first", parsePositive)
    .option(
      "--places",
      "every place in which the id stands, whichever run it is in; the usual answer where there are several",
    )
    .option("--cursor <n>", "the place to begin with", parseCount)
    .option("--all", "every line, whatever it costs")
    .option("--markdown", "as a fenced Markdown block")
  bindShell<ShowOptions>(command, session, show, [
    ["orangebox show", "the last run"],
    ["orangebox show run_01JT9", "a run by the beginning of its id"],
    ["orangebox show last --at 6", "unfold step #6"],
    ["orangebox show m-2", "a message: where it was enqueued, and every delivery"],
    ["orangebox show ./run.obxrun", "a run that was exported, here or elsewhere"],
    ["orangebox show conversation:thread-7 --budget 1000", "a whole conversation, for an agent with little room"],
  ])
}

function show(session: Session, options: ShowOptions & GlobalOptions, address = "last"): Promise<number | undefined> {
  return withRunAt(session, options, address, async (reading) => {
    const { reader, store, freshness } = reading
    const { terminal } = session
    const view = viewOptions(session, options)
    const target = await findTarget(reader, reading.address)
    if (store && (isListAsked(options) || MAY_HAVE_MANY.has(target.kind))) {
      const shown = { ...view, json: options.json, address: pasteable(options, shellWord(reading.address)) }
      const thread = isListAsked(options) ? undefined : await threadOf(store, target, shown)
      const answer = thread ?? (await placesOf(store, target, shown, options))
      if (answer !== undefined) {
        terminal.out(typeof answer === "string" ? answer : safeJson({ ...answer, ...freshness }, 2))
        return undefined
      }
    }
    const run = await runOf(reader, target)
    const at = options.at ?? run.view.steps.find(({ id }) => id === target.stepId)?.n
    const skeleton = { ...view, address: reading.place(run.row.runId), ...given({ at }) }
    terminal.out(
      options.json
        ? safeJson({ ...skeletonJson(run.view, skeleton), ...freshness }, 2)
        : skeletonText(run.view, skeleton),
    )
    return undefined
  })
}

/** A run or a step is one place, and its skeleton says more of it than a list. */
const MAY_HAVE_MANY: ReadonlySet<Target["kind"]> = new Set([
  ...(["conversation", "trace", "message", "tool_call", "provider_request"] as const),
  ...(["request", "artifact", "lane", "body"] as const),
])

/** What a list of places is shown with. */
type PlacesShown = ReturnType<typeof viewOptions> & { readonly address: string; readonly json: boolean | undefined }

/** The runs of a conversation or a trace. A conversation may also be named by runs that are not in it: who sent something there, or away. */
async function threadOf(
  store: TraceReader,
  { kind, id }: Target,
  shown: PlacesShown,
): Promise<string | object | undefined> {
  if (kind !== "conversation" && kind !== "trace") return undefined
  const runs = await loadRuns(store, kind === "trace" ? { traceId: id } : { conversationId: id })
  if (runs.length < (kind === "trace" ? 2 : 1)) return undefined
  const { address, json, ...view } = shown
  const thread = { ...view, thread: { kind, id } }
  const outside = kind === "trace" ? undefined : await placesOutside(store, id, runs)
  const places = { ...view, address: `${address} --places`, budget: OUTSIDE_BUDGET }
  if (json) {
    return { ...conversationJson(runs, thread), ...(outside ? { named_outside: placesJson(outside, places) } : {}) }
  }
  const text = conversationText(runs, thread)
  return outside && outside.total > 0 ? `${text}\n${placesText(outside, places)}` : text
}

/** Beside the runs of a conversation: who else names it is told, and how to read on. */
const OUTSIDE_BUDGET = 400

/** Undefined for a single place, unless the list is asked for. */
async function placesOf(
  store: TraceReader,
  target: Target,
  { json, ...view }: PlacesShown,
  options: ShowOptions,
): Promise<string | object | undefined> {
  const places = await findPlaces(store, target, options.cursor)
  if (places.total < 2 && !isListAsked(options) && target.runId !== null) return undefined
  return json ? placesJson(places, view) : placesText(places, view)
}

const isListAsked = ({ places, cursor }: ShowOptions): boolean => places === true || cursor !== undefined
