import { type CatalogDefinition, defineStages, type StageCatalog } from "@orangebox/context"
import { InputError } from "@orangebox/contract"
import { MIN_CONTEXT_BUDGET, parseAddress, type RecordedContext, rebuildPrompt } from "@orangebox/query"
import {
  answerContext,
  answerWhy,
  type ContextsAsked,
  contextSources,
  contextsAsked,
  fileInAddress,
  loadContext,
} from "@orangebox/reader"
import { safeJson } from "@orangebox/text"
import type { Command } from "commander"
import { writePrompt } from "../context/write-prompt.js"
import { budgetParser, parseCount } from "../option-values.js"
import { withRunAt } from "../reading.js"
import { readJsonFile } from "../replaying/masks.js"
import { bindShell, type GlobalOptions, prose, type Session, wrongUsage } from "../session.js"
import { tell } from "../tell.js"
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
      prose(
        session,
        "A bar is full at the largest item; the percentage is of the token budget, or of the prompt where no budget is known.\n≈ marks what was deduced from the traffic and not recorded as such.",
      ),
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
    const asked = await contextsAsked(reading, options.why !== undefined)
    const shown = viewOptions(session, options)
    if (options.why !== undefined) return tell(session, options, await answerWhy(asked, options.why, shown))
    if (!options.rebuild) return tell(session, options, await answerContext(asked, shown))
    if (asked.one === undefined) throw whichPrompt(asked.wanted, asked.place)
    return writeRebuilt(session, asked, asked.one, options)
  })
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

async function writeRebuilt(
  session: Session,
  { reading, view: run, contexts, before }: ContextsAsked,
  context: RecordedContext,
  options: ContextCommandOptions & GlobalOptions,
): Promise<number> {
  const { reader, freshness } = reading
  const { view, bodies } = await loadContext(reader, [...before, ...contexts], context)
  const { json = false, budget } = options
  const catalogs = options.catalog === undefined ? [] : [catalogIn(options.catalog)]
  const workspace = options.workspace ?? process.cwd()
  const sources = await contextSources(reader, run, view, { workspace, catalogs })
  return writePrompt(session, rebuildPrompt(view, bodies, sources), { n: context.n, json, budget, freshness })
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

function whichPrompt(wanted: readonly RecordedContext[], place: string): InputError {
  const last = wanted.at(-1)
  if (!last) return new InputError("NO_CONTEXT", { what: "there is no prompt: no model was called" })
  return wrongUsage(
    `--rebuild needs one step, and there are ${wanted.length} contexts`,
    `Say which, such as: orangebox context ${place}#${last.n} --rebuild`,
  )
}
