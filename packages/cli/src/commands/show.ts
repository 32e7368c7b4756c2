import { given } from "@orangebox/contract"
import { MIN_SKELETON_BUDGET } from "@orangebox/query"
import { answerShow, type ShowAsked } from "@orangebox/reader"
import type { Command } from "commander"
import { budgetParser, parseCount, parsePositive } from "../option-values.js"
import { withRunAt } from "../reading.js"
import { bindShell, type GlobalOptions, type Session } from "../session.js"
import { tell } from "../tell.js"
import { type ViewFlags, viewOptions } from "../view-options.js"

type ShowOptions = ViewFlags & ShowAsked

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
    .option("--logs", "with what the run logged at debug and info; warnings and errors are always shown")
    .option("--markdown", "as a fenced Markdown block")
  bindShell<ShowOptions>(command, session, show, [
    ["orangebox show", "the last run"],
    ["orangebox show run_01JT9", "a run by the beginning of its id"],
    ["orangebox show last --at 6", "unfold step #6"],
    ["orangebox show last --logs", "with everything it logged"],
    ["orangebox show m-2", "a message: where it was enqueued, and every delivery"],
    ["orangebox show ./run.obxrun", "a run that was exported, here or elsewhere"],
    ["orangebox show conversation:thread-7 --budget 1000", "a whole conversation, for an agent with little room"],
  ])
}

function show(session: Session, options: ShowOptions & GlobalOptions, address = "last"): Promise<number | undefined> {
  const { at, places, logs } = options
  return withRunAt(session, options, address, async (reading) =>
    tell(session, options, await answerShow(reading, given({ at, places, logs }), viewOptions(session, options))),
  )
}
