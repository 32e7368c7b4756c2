import {
  type Asking,
  type Court,
  type JudgedRun,
  judgeRun,
  type LoadedRun,
  leftOutWords,
  openCourt,
  type RuleOptions,
  type RunReader,
} from "@orangebox/reader"
import type { Command } from "commander"
import type { GlobalOptions, Session } from "../session.js"

export function addRuleOptions(command: Command): Command {
  return command
    .option("--rules <file>", 'only these rules: JSON as under "checks" in the configuration, or one rule a line')
    .option("--rule <text>", "only this rule; may be given several times", (text: string, before: string[] = []) => [
      ...before,
      text,
    ])
    .option("--no-inferred", "leave out what was only read from the words of the request")
}

/** By what runs are judged here; what is wrong with the rules is said at once. */
export function courtHere(
  { terminal }: Session,
  options: RuleOptions & GlobalOptions & { readonly root?: string },
): Court {
  const court = openCourt(options)
  for (const warning of court.warnings) terminal.say(`orangebox: ${warning}`)
  return court
}

export async function judgeHere(
  { terminal }: Session,
  court: Court,
  reader: RunReader,
  run: LoadedRun,
  asking?: Asking,
): Promise<JudgedRun> {
  const judged = await judgeRun(court, reader, run, asking)
  const { leftOut } = judged
  if (leftOut.bodies > 0) terminal.say(`orangebox: ${run.row.runId} is too large: ${leftOutWords(leftOut)}`)
  return judged
}
