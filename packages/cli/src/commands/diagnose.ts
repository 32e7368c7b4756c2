import { given } from "@orangebox/contract"
import { MIN_DIAGNOSIS_BUDGET } from "@orangebox/query"
import { answerDiagnosis, checkJudge } from "@orangebox/reader"
import type { Command } from "commander"
import { budgetParser, parseCount } from "../option-values.js"
import { withRunAt } from "../reading.js"
import { bindShell, type GlobalOptions, prose, type Session } from "../session.js"
import { tell } from "../tell.js"
import { type ViewFlags, viewOptions } from "../view-options.js"
import { whileNotInterrupted } from "../while-not-interrupted.js"

interface DiagnoseOptions extends ViewFlags {
  readonly wrong?: boolean
  readonly expected?: string
  readonly judge?: string
  readonly source?: string
}

export function define(command: Command, session: Session): void {
  command
    .description("Say what recorded facts of a run are broken, the most telling first, with the steps that show it.")
    .argument("[address]", "a run, a step, a conversation, a trace, a message or a tool call", "last")
    .option(
      "--budget <tokens>",
      `at most so many tokens, at least ${MIN_DIAGNOSIS_BUDGET}`,
      budgetParser(MIN_DIAGNOSIS_BUDGET),
    )
    .option("--cursor <n>", "the finding to begin with", parseCount)
    .option("--wrong", "the outcome is wrong, whatever the run says of itself")
    .option("--expected <text>", "what it should have come to; it is wrong, then")
    .option("--judge <name>", "ask this judge of the configuration as well")
    .option("--source <name>", "with the notes and rules that this source of the application has of its own")
    .option("--markdown", "as a fenced Markdown block")
    .addHelpText(
      "after",
      prose(
        session,
        "PROVEN: recorded facts contradict a rule. LIKELY: one inference away. POSSIBLE: statistics or words.\nfatal ended the run, harm did damage, waste cost money or time, notice is worth knowing.\nRules find mechanical failures. Whether an answer is right they cannot tell, and what could not be looked for is named.\nWhere the outcome is bad and nothing explains it, up to three steps are named to begin reading with: an order, no findings.\nExits with 1 when a finding is fatal or harm.",
      ),
    )
  bindShell<DiagnoseOptions>(command, session, showDiagnosis, [
    ["orangebox diagnose", "the last run"],
    ["orangebox diagnose conversation:thread-7", "all runs of a conversation together"],
    ["orangebox diagnose m-2", "the runs that handled a message, with all its deliveries"],
    ["orangebox diagnose last --expected 29", "it completed, and its answer should have been 29"],
    ["orangebox diagnose last --wrong --judge strict", "a judge of your own is asked as well"],
    ["orangebox diagnose last --source billing", "with what the module billing says about its own steps"],
    ["orangebox diagnose last --json", "the same for a program"],
  ])
}

function showDiagnosis(
  session: Session,
  options: DiagnoseOptions & GlobalOptions,
  address = "last",
): Promise<number | undefined> {
  const { wrong: isWrong, expected, judge, source } = options
  if (judge !== undefined) checkJudge(judge)
  return withRunAt(session, options, address, (reading) =>
    whileNotInterrupted(async (signal) => {
      const asker = judge === undefined ? undefined : { name: judge, signal }
      const asked = given({ isWrong, expected, source, judge: asker })
      return tell(session, options, await answerDiagnosis(reading, asked, viewOptions(session, options)))
    }),
  )
}
