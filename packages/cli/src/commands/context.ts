import { type CatalogDefinition, defineStages, type StageCatalog } from "@orangebox/context"
import { InputError } from "@orangebox/contract"
import {
  contextJson,
  contextsWithin,
  contextText,
  MIN_CONTEXT_BUDGET,
  overviewJson,
  overviewText,
  parseAddress,
  type RecordedContext,
  type RunView,
  rebuildPrompt,
  recordedContexts,
  summarizeContexts,
  whyJson,
  whyText,
} from "@orangebox/query"
import {
  contextSources,
  contextsBefore,
  fileInAddress,
  findTarget,
  findWhy,
  loadContext,
  outlineContexts,
  type RunReader,
  runOf,
} from "@orangebox/reader"
import { safeJson, safeLine } from "@orangebox/text"
import type { Command } from "commander"
import { writePrompt } from "../context/write-prompt.js"
import { shellWord } from "../next-command.js"
import { budgetParser, parseCount } from "../option-values.js"
import { withRunAt } from "../reading.js"
import { readJsonFile } from "../replaying/masks.js"
import { bindShell, type GlobalOptions, type Session, wrongUsage } from "../session.js"
import { type ViewFlags, viewOptions } from "../view-options.js"

interface ContextCommandOptions extends ViewFlags {
  readonly why?: string
  readonly rebuild?: boolean
  readonly workspace?: string
  readonly catalog?: string
}

export function define(command: Command, session: Session): void {
  command
    .description("Show what a step saw, why, what was left out, and what changed since the step before.")
    .argument("[address]", "a run, for all its contexts; last#4 or run_01JT9#4, for one", "last")
    .argument("[step]", "the step where the address names only the run: '#4'")
    .option(
      "--budget <tokens>",
      `at most so many tokens, at least ${MIN_CONTEXT_BUDGET}`,
      budgetParser(MIN_CONTEXT_BUDGET),
    )
    .option("--cursor <n>", "the row to begin with", parseCount)
    .option("--all", "every item, also messages that the request before held as well")
    .option("--why <item>", "for one item, by id, contributor, hash or text: where it was included, left out or absent")
    .option("--rebuild", "the prompt itself: to the byte into a pipe or a file, as safe text on a terminal")
    .option("--workspace <folder>", "with --rebuild: where the files are that it was made of; default: here")
    .option("--catalog <file>", "with --rebuild: the stages that wrote it, as JSON, where they are not the preset's")
    .option("--markdown", "as a fenced Markdown block")
    .addHelpText(
      "after",
      "\nA bar is full at the largest item; the percentage is of the token budget, or of the prompt where no budget is known.\n≈ marks what was deduced from the traffic and not recorded as such.",
    )
  bindShell<ContextCommandOptions>(command, session, showContext, [
    ["orangebox context", "the contexts of the last run, one line each"],
    ["orangebox context last#4", "what step 4 saw, in order, and what it did not"],
    ["orangebox context last --why read_file", "where one item was included, left out or absent"],
    ["orangebox context last#4 --rebuild > prompt.txt", "the prompt, byte for byte"],
  ])
}

function showContext(
  session: Session,
  options: ContextCommandOptions & GlobalOptions,
  address = "last",
  step?: string,
): Promise<number | undefined> {
  if (!options.rebuild && (options.workspace !== undefined || options.catalog !== undefined)) {
    throw wrongUsage("--workspace and --catalog say where a prompt is rebuilt from", "Add --rebuild, or leave them out")
  }
  if (options.why !== undefined && options.rebuild) {
    throw wrongUsage("--why and --rebuild are two questions", "Ask one of them")
  }
  if (options.why !== undefined && options.why.trim() === "") {
    throw wrongUsage("--why names no item", "Name one: an id, a contributor, a hash or a text")
  }
  const whole = step === undefined ? address : joined(address, step)
  return withRunAt(session, options, whole, async (reading) => {
    const { reader: store, freshness } = reading
    const target = await findTarget(store, reading.address)
    const run = await runOf(store, target)
    const place = reading.place(run.row.runId)
    const contexts = recordedContexts(run.view)
    const before = await contextsBefore(reading.store, run.view)
    const asked = { store, view: run.view, contexts, before, place, freshness }
    if (options.why !== undefined) return showWhy(session, asked, options.why, options)

    const n = run.view.steps.find(({ id }) => id === target.stepId)?.n
    const wanted = n === undefined || n === 1 ? contexts : contextsWithin(run.view, contexts, n)
    const [context, ...others] = wanted
    if (n !== undefined && context === undefined) throw noContext(run.view, contexts, n, place)
    const isOne = n !== undefined && n !== 1 && others.length === 0
    if (context !== undefined && isOne) return showOne(session, asked, context, options)
    if (options.rebuild) throw whichPrompt(wanted, place)
    return showOverview(session, asked, wanted, options)
  })
}

/** What every form of the command works on. */
interface Asked {
  readonly store: RunReader
  readonly view: RunView
  readonly contexts: readonly RecordedContext[]
  /** What the conversation had seen when the run began. */
  readonly before: readonly RecordedContext[]
  /** How the run is written in the commands we suggest. */
  readonly place: string
  readonly freshness: object
}

/** `run_01JT9 '#4'` is the same as `run_01JT9#4`. */
function joined(address: string, step: string): string {
  const isRun = fileInAddress(address) !== undefined || ["last", "run"].includes(parseAddress(address).form)
  if (isRun && /^#?\d+$/.test(step)) return `${address.trim()}#${step.replace("#", "")}`
  throw wrongUsage(
    `${safeJson(address)} and ${safeJson(step)} are not a run and a step of it`,
    "Write it as last#4, or as last '#4'",
  )
}

async function showOne(
  session: Session,
  { store, view: run, contexts, before, place, freshness }: Asked,
  context: RecordedContext,
  options: ContextCommandOptions & GlobalOptions,
): Promise<number | undefined> {
  const { terminal } = session
  const { view, bodies } = await loadContext(store, [...before, ...contexts], context)
  if (options.rebuild) {
    const { json = false, budget } = options
    const catalogs = options.catalog === undefined ? [] : [catalogIn(options.catalog)]
    const workspace = options.workspace ?? process.cwd()
    const sources = await contextSources(store, run, view, { workspace, catalogs })
    return writePrompt(session, rebuildPrompt(view, bodies, sources), { n: context.n, json, budget, freshness })
  }
  const shown = { ...viewOptions(session, options), address: place }
  terminal.out(
    options.json
      ? safeJson({ run_id: run.runId ?? null, ...contextJson(view, shown), ...freshness }, 2)
      : contextText(view, shown),
  )
  return undefined
}

function catalogIn(path: string): StageCatalog {
  try {
    return defineStages(readJsonFile(path) as CatalogDefinition)
  } catch (cause) {
    if (cause instanceof InputError) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new InputError("CATALOG", { what: `the catalog cannot be used: ${why}`, where: path, cause })
  }
}

async function showOverview(
  session: Session,
  { store, view, contexts, before, place, freshness }: Asked,
  wanted: readonly RecordedContext[],
  options: ContextCommandOptions & GlobalOptions,
): Promise<undefined> {
  const all = summarizeContexts(await outlineContexts(store, [...before, ...contexts]))
  const summaries = all.slice(before.length).filter(({ n }) => wanted.some((context) => context.n === n))
  const shown = { ...viewOptions(session, options), address: place }
  session.terminal.out(
    options.json
      ? safeJson({ run_id: view.runId ?? null, ...overviewJson(view, summaries, shown), ...freshness }, 2)
      : overviewText(view, summaries, shown),
  )
}

async function showWhy(
  session: Session,
  { store, view, contexts, place, freshness }: Asked,
  item: string,
  options: ContextCommandOptions & GlobalOptions,
): Promise<undefined> {
  const why = await findWhy(store, contexts, item, options.cursor ?? 0)
  const shown = {
    ...viewOptions(session, options),
    command: `orangebox context ${place} --why ${safeLine(shellWord(item))}`,
  }
  session.terminal.out(
    options.json
      ? safeJson({ run_id: view.runId ?? null, ...whyJson(why, shown), ...freshness }, 2)
      : whyText(why, shown),
  )
}

function noContext(view: RunView, contexts: readonly RecordedContext[], n: number, place: string): InputError {
  const nearest = contexts.findLast((context) => context.n < n) ?? contexts[0]
  return new InputError("NO_CONTEXT", {
    what: `step #${n} has no context: it called no model`,
    where: view.runId ?? "",
    next: nearest
      ? `The nearest one that has: orangebox context ${place}#${nearest.n}`
      : "No step of this run has one: no model was called",
  })
}

function whichPrompt(wanted: readonly RecordedContext[], place: string): InputError {
  const last = wanted.at(-1)
  if (!last) return new InputError("NO_CONTEXT", { what: "there is no prompt: no model was called" })
  return wrongUsage(
    `--rebuild needs one step, and there are ${wanted.length} contexts`,
    `Say which, such as: orangebox context ${place}#${last.n} --rebuild`,
  )
}
