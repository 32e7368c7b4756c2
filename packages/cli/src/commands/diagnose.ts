import { diagnose, diagnosisJson, diagnosisText, MIN_DIAGNOSIS_BUDGET } from "@orangebox/query"
import { findTarget, loadCase, runOf } from "@orangebox/reader"
import { safeJson } from "@orangebox/text"
import type { Command } from "commander"
import { EXIT } from "../exit-code.js"
import { budgetParser, parseCount } from "../option-values.js"
import { withRunAt } from "../reading.js"
import { bindShell, type GlobalOptions, type Session } from "../session.js"
import { type ViewFlags, viewOptions } from "../view-options.js"

export function define(command: Command, session: Session): void {
  command
    .description("Say what recorded facts of a run are broken, the most telling first, with the steps that show it.")
    .argument("[address]", "a run, or any id in it: a step, a message, a tool call", "last")
    .option(
      "--budget <tokens>",
      `at most so many tokens, at least ${MIN_DIAGNOSIS_BUDGET}`,
      budgetParser(MIN_DIAGNOSIS_BUDGET),
    )
    .option("--cursor <n>", "the finding to begin with", parseCount)
    .option("--markdown", "as a fenced Markdown block")
    .addHelpText(
      "after",
      "\nPROVEN: recorded facts contradict a rule. LIKELY: one inference away. POSSIBLE: statistics or words.\nfatal ended the run, harm did damage, waste cost money or time, notice is worth knowing.\nRules find mechanical failures. Whether an answer is right they cannot tell, and what could not be looked for is named.\nExits with 1 when a finding is fatal or harm.",
    )
  bindShell<ViewFlags>(command, session, showDiagnosis, [
    ["orangebox diagnose", "the last run"],
    ["orangebox diagnose m-2", "the run that handled a message, with all its deliveries"],
    ["orangebox diagnose last --json", "the same for a program"],
  ])
}

function showDiagnosis(
  session: Session,
  options: ViewFlags & GlobalOptions,
  address = "last",
): Promise<number | undefined> {
  return withRunAt(session, options, address, async (reading) => {
    const run = await runOf(reading.reader, await findTarget(reading.reader, reading.address))
    const diagnosis = diagnose(await loadCase(reading.reader, reading.store, run, options.data))
    const { runId } = run.row
    const shown = { ...viewOptions(session, options), address: reading.place(runId) }
    session.terminal.out(
      options.json
        ? safeJson({ run_id: runId, ...diagnosisJson(run.view, diagnosis, shown), ...reading.freshness }, 2)
        : diagnosisText(run.view, diagnosis, shown),
    )
    const isBad = diagnosis.findings.some(({ severity }) => severity === "fatal" || severity === "harm")
    return isBad ? EXIT.findings : undefined
  })
}
