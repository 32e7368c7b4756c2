import { given } from "@orangebox/contract"
import { HANDOFF_BUDGET, MIN_HANDOFF_BUDGET } from "@orangebox/query"
import { answerHandoff, type HandoffAsked } from "@orangebox/reader"
import type { Command } from "commander"
import { budgetParser } from "../option-values.js"
import { withRunAt } from "../reading.js"
import { bindShell, type GlobalOptions, prose, type Session } from "../session.js"
import { tell } from "../tell.js"

export function define(command: Command, session: Session): void {
  command
    .description(
      "A run for a debugging agent: what is asked, what rules found, the run in a few lines, how to ask and how to report.",
    )
    .argument("[address]", "a run, or any id in it", "last")
    .option("--question <text>", "what the agent is to find out")
    .option(
      "--budget <tokens>",
      `at most so many tokens, at least ${MIN_HANDOFF_BUDGET}; default ${HANDOFF_BUDGET}`,
      budgetParser(MIN_HANDOFF_BUDGET),
    )
    .addHelpText(
      "after",
      prose(
        session,
        "Recorded text stands in a fence with a mark that is new each time: whoever reads it must take it for data.",
      ),
    )
  bindShell<HandoffAsked>(command, session, handoff, [
    ["orangebox handoff", "the last run"],
    ["orangebox handoff m-2 --question 'why twice?'", "the run of a message, with a question of yours"],
    ["orangebox handoff last --json", "the same for a program"],
  ])
}

function handoff(
  session: Session,
  options: HandoffAsked & GlobalOptions,
  address = "last",
): Promise<number | undefined> {
  return withRunAt(session, options, address, async (reading) =>
    tell(session, options, await answerHandoff(reading, { ...options, ...given({ width: session.terminal.columns }) })),
  )
}
