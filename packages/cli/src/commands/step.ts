import { given, InputError } from "@orangebox/contract"
import { BRIEF_BUDGET, DEFAULT_SLICE_BUDGET, MIN_STEP_BUDGET } from "@orangebox/query"
import { answerBeforeAfter, answerBody, answerBrief, answerStep, bytesOf, stepAsked } from "@orangebox/reader"
import type { Command } from "commander"
import { budgetParser, parseCount, parsePositive } from "../option-values.js"
import { withRunAt } from "../reading.js"
import { bindShell, type GlobalOptions, type Session, wrongUsage } from "../session.js"
import { tell } from "../tell.js"
import { type ViewFlags, viewOptions } from "../view-options.js"

interface StepCommandOptions extends ViewFlags {
  readonly brief?: boolean
  readonly body?: string
  readonly from?: number
  readonly bytes?: number
  readonly pretty?: boolean
  readonly raw?: boolean
  readonly force?: boolean
  readonly beforeAfter?: boolean
}

export function define(command: Command, session: Session): void {
  command
    .description("Show one step, what was said in it first, or read one of its bodies.")
    .argument(
      "[address]",
      "last#13, run_01JT9#13, ./run.obxrun#13, a step id, or any id that stands in a step",
      "last#1",
    )
    .option("--budget <tokens>", `at most so many tokens, at least ${MIN_STEP_BUDGET}`, budgetParser(MIN_STEP_BUDGET))
    .option("--cursor <n>", "the row to begin with", parseCount)
    .option(
      "--brief",
      `the step in at most ${BRIEF_BUDGET} tokens, or those of --budget: what it was asked, what changed, what was said`,
    )
    .option("--all", "every recorded row, also hashes, nulls and ids of events")
    .option("--markdown", "as a fenced Markdown block")
    .option("--body <name>", "read a body instead: request, response, args, result … or a sha256 hash")
    .option("--from <byte>", "where in the body to begin, in bytes as it came", parseCount)
    .option("--bytes <n>", `so many bytes of it; default: about ${DEFAULT_SLICE_BUDGET} tokens`, parsePositive)
    .option("--pretty", "indent a JSON body; --from then counts bytes of the indented text")
    .option("--raw", "the exact bytes, for a pipe or a file")
    .option("--force", "with --raw: even to a terminal")
    .option("--before-after", "what changed between the prompt the application built and what was sent")
  bindShell<StepCommandOptions>(command, session, showStep, [
    ["orangebox step last#4", "step 4 of the last run"],
    ["orangebox step last#4 --brief", "the same in a few lines, for an agent"],
    ["orangebox step last#4 --body response", "what the model answered, put together from its stream"],
    ["orangebox step last#4 --body response --from 0", "the same as it came, byte by byte"],
    ["orangebox step last#4 --body request --pretty", "what it was sent, indented"],
    ["orangebox step last#4 --body request --raw > request.json", "the exact bytes"],
    ["orangebox step last#4 --before-after", "what a transform did to the prompt"],
  ])
}

function showStep(
  session: Session,
  options: StepCommandOptions & GlobalOptions,
  address = "last#1",
): Promise<number | undefined> {
  if (options.body === undefined && (options.raw || options.bytes !== undefined || options.pretty)) {
    throw wrongUsage("--raw, --bytes and --pretty are about a body", "Say which with --body")
  }
  checkBrief(options)
  return withRunAt(session, options, address, async (reading) => {
    const step = await stepAsked(reading)
    const shown = viewOptions(session, options)
    const { body: name, from, bytes, pretty } = options
    if (options.brief) return tell(session, options, await answerBrief(step, shown))
    if (options.beforeAfter) return tell(session, options, await answerBeforeAfter(step, shown))
    if (name === undefined) return tell(session, options, await answerStep(step, shown))
    const asked = { name, ...given({ from, bytes, pretty }) }
    if (!options.raw) return tell(session, options, await answerBody(step, asked, shown))
    checkRaw(session, options.force ?? false)
    session.terminal.outBytes(await bytesOf(step, asked))
    return undefined
  })
}

function checkBrief({ brief, all, body, beforeAfter, cursor, markdown, raw, budget }: StepCommandOptions): void {
  if (brief && (all || body !== undefined || beforeAfter || cursor !== undefined || markdown))
    throw wrongUsage(
      "--brief is the step in a few lines; the other options are about more of it",
      "Ask for one of them",
    )
  if (raw && budget !== undefined)
    throw wrongUsage("--raw gives the exact bytes, and --budget would cut them", "Say how many with --bytes")
}

function checkRaw({ terminal }: Session, isForced: boolean): void {
  if (!terminal.isOutTerminal || isForced) return
  throw new InputError("RAW_TO_TERMINAL", {
    what: "recorded bytes may hold codes that take over a terminal",
    next: "Send them to a file or a pipe, read them without --raw, or insist with --force",
  })
}
