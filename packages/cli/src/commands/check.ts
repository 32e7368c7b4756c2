import { writeFileSync } from "node:fs"
import { advice, InputError, suggested } from "@orangebox/contract"
import { type GateLevel, gateExitCode, renderJunit, renderSarif, type verdictOf } from "@orangebox/decisions"
import {
  type Court,
  findRun,
  type JudgedRun,
  type KeptEvaluation,
  keepEvaluations,
  lastWordAbout,
  locateData,
  type RuleOptions,
  rulesHere,
} from "@orangebox/reader"
import { safeJson, safeLine } from "@orangebox/text"
import { type Command, Option } from "commander"
import { checkAgainst } from "../decisions/check-against.js"
import { checkJson, checkText, problemJson } from "../decisions/format-check.js"
import { addRuleOptions, courtHere, judgeHere } from "../decisions/judging.js"
import { annotationDoor, loginName } from "../decisions/login-name.js"
import { EXIT, type ExitCode } from "../exit-code.js"
import { cannotWrite } from "../new-file.js"
import { catchUpHere, withRunAt } from "../reading.js"
import { bindShell, type GlobalOptions, prose, type Session, wrongUsage } from "../session.js"
import { versionOf } from "../version.js"
import { whileNotInterrupted } from "../while-not-interrupted.js"

interface CheckOptions extends RuleOptions {
  readonly failOn: GateLevel
  readonly strict?: boolean
  readonly acceptOverrides?: boolean
  readonly root?: string
  readonly junit?: string
  readonly sarif?: string
  readonly record?: boolean
  readonly against?: string
}

export function define(command: Command, session: Session): void {
  command
    .description(
      'Hold runs against the rules they should have kept: those under "checks" in the configuration, those a run was started with, and those its request states in plain words.',
    )
    .argument("[runs...]", "runs, or exported files; the last one without any")
  addRuleOptions(command)
    .addOption(
      new Option("--fail-on <level>", "from which verdict on the exit code is 1")
        .choices(["fail", "warn", "unknown"])
        .default("fail"),
    )
    .option("--strict", "the same as --fail-on unknown: what could not be judged did not pass")
    .option("--accept-overrides", "a person's word about the whole run decides (orangebox override)")
    .option("--root <folder>", "the workspace, for absolute paths; default: the folder that holds .orangebox")
    .option("--junit <file>", "also write JUnit XML")
    .option("--sarif <file>", "also write SARIF 2.1.0")
    .option(
      "--against <run>",
      "instead of rules: it must decide and end as this run or kept file does (docs/testing.md)",
    )
    .option("--record", "keep the verdict beside the run also when the rules were typed here")
    .option("--no-record", "do not keep it; nothing is written")
    .addHelpText(
      "after",
      prose(
        session,
        "Exits with 0 when no rule is broken, 1 when one is, 2 when a rule cannot be read. Rules are described in docs/checks.md.\nA run that goes on is judged for what there is so far, and says so.\nThe verdict is kept beside the run, which itself does not change; the same rules and the same result are kept once.\nRules typed with --rule or --rules are a question: their answer is kept only with --record.",
      ),
    )
  bindShell<CheckOptions>(command, session, check, [
    ["orangebox check", "the last run, by all rules that hold for it"],
    ["orangebox check last --rule 'paths.only src/** tests/**'", "by this rule alone"],
    ["orangebox check last --against test/fixtures/fix-date.obxrun", "decides and ends as the kept run, words aside"],
    ["orangebox check run_01JT9 --strict --junit checks.xml", "in CI"],
  ])
}

function check(
  session: Session,
  options: CheckOptions & GlobalOptions,
  ...addresses: string[]
): Promise<number | undefined> {
  if (options.against !== undefined) {
    const [address = "last", ...more] = addresses
    if (more.length > 0) throw wrongUsage("--against compares one run with one", "Check them one by one")
    if (options.rule !== undefined || options.rules !== undefined)
      throw wrongUsage("--against takes the place of rules", "Ask the two questions one by one")
    return checkAgainst(session, options, address, options.against)
  }
  const court = courtHere(session, options)
  return whileNotInterrupted(async (signal) => {
    const judged: JudgedRun[] = []
    const stored: JudgedRun[] = []
    const codes: number[] = []
    let freshness = {}
    for (const typed of addresses.length === 0 ? ["last"] : addresses) {
      const code = await withRunAt(session, options, typed, async (place) => {
        const run = await findRun(place.reader, place.address)
        const one = await judgeHere(session, court, place.reader, run, { judges: signal })
        judged.push(one)
        if (place.store !== undefined && one.evaluation.results.length > 0) stored.push(one)
        freshness = place.freshness
        return undefined
      })
      codes.push(code ?? EXIT.fine)
    }
    if (judged.every(({ evaluation }) => evaluation.results.length === 0)) throw nothingToCheck()
    const verdict = court.problems.length > 0 ? EXIT.badInput : gate(judged, options)
    const exitCode = Math.max(verdict, ...codes)
    writeReports(judged, options)
    const kept = await keep(session, options, court, stored)
    tell(session, options, judged, kept, {
      ok: exitCode === EXIT.fine,
      problems: court.problems.map(problemJson),
      ...freshness,
    })
    return exitCode
  })
}

/**
 * A verdict by the rules that hold for a run belongs on record; rules typed for the occasion are a question. A gate that does not know its
 * rules has judged nothing. What cannot be written does not stop the check, unless it was asked for.
 */
async function keep(
  session: Session,
  options: CheckOptions & GlobalOptions,
  { given, problems }: Court,
  stored: readonly JudgedRun[],
): Promise<ReadonlyMap<JudgedRun, KeptEvaluation>> {
  const isWanted = options.record ?? given === undefined
  if (!isWanted || problems.length > 0 || stored.length === 0) return new Map()
  try {
    const folder = locateData(options.data)
    const kept = keepEvaluations(
      { ...annotationDoor(), author: loginName() },
      folder,
      stored,
      rulesHere(process.cwd(), options).ruleset,
    )
    if ([...kept.values()].some(({ isNew }) => isNew)) await catchUpHere(session, folder.path)
    return kept
  } catch (error) {
    if (options.record === true) throw error
    const why = error instanceof Error ? error.message : String(error)
    session.terminal.say(`orangebox: the verdict is not kept beside the run: ${safeLine(why)}`)
    return new Map()
  }
}

/** A rule of the run's own that is not understood is unknown, not a mistake of the one who checks it. */
function gate(judged: readonly JudgedRun[], options: CheckOptions): ExitCode {
  const level = options.strict ? "unknown" : options.failOn
  const closes = judged.filter(({ run, evaluation }) => {
    const word = options.acceptOverrides ? lastWordAbout([...run.events, ...run.annotations]) : undefined
    if (word !== undefined) return closesAt(level, word.verdict)
    return gateExitCode([{ ...evaluation, problems: [] }], level) !== 0
  })
  return closes.length === 0 ? EXIT.fine : EXIT.findings
}

const closesAt = (level: GateLevel, verdict: ReturnType<typeof verdictOf>): boolean =>
  (["fail", "warn", "unknown", "pass"] as const).indexOf(verdict) <=
  (["fail", "warn", "unknown"] as const).indexOf(level)

function writeReports(judged: readonly JudgedRun[], { junit, sarif }: CheckOptions): void {
  const evaluations = judged.map(({ evaluation }) => evaluation)
  if (junit !== undefined) writeReport(junit, renderJunit(evaluations))
  if (sarif !== undefined) writeReport(sarif, renderSarif(evaluations, versionOf()))
}

function writeReport(path: string, text: string): void {
  try {
    // It quotes what was recorded. A file that is there already keeps its mode: so a user asks for another one.
    writeFileSync(path, text, { mode: 0o600 })
  } catch (cause) {
    throw cannotWrite(path, cause)
  }
}

function tell(
  { terminal }: Session,
  options: CheckOptions & GlobalOptions,
  judged: readonly JudgedRun[],
  kept: ReadonlyMap<JudgedRun, KeptEvaluation>,
  { ok, problems, ...freshness }: { readonly ok: boolean; readonly problems: readonly object[] },
): void {
  const wordOf = ({ run }: JudgedRun) => lastWordAbout([...run.events, ...run.annotations])
  if (options.json) {
    const failOn = options.strict ? "unknown" : options.failOn
    const runs = judged.map((one) => checkJson(one, wordOf(one), kept.get(one)))
    terminal.out(safeJson({ ok, fail_on: failOn, runs, problems, ...freshness }, 2))
  } else {
    terminal.out(judged.map((one) => checkText(one, wordOf(one), kept.get(one), terminal.paint)).join("\n\n"))
  }
}

const nothingToCheck = (): InputError =>
  new InputError("NO_RULES", {
    what: "there is no rule to check by: none in the configuration, none the run was started with, none in its request",
    next: advice`Add "checks" to orangebox.config.json, or say one: ${suggested("check", "--rule 'paths.only src/**'")}`,
  })
