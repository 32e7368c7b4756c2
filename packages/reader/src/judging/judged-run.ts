import {
  askJudge,
  type CheckContext,
  type CheckedConstraint,
  compileConstraints,
  describeRuleProblem,
  evaluateRun,
  type JudgeOutcome,
  judgeQuestions,
  type Observability,
  observabilityOfReading,
  type RecordedRun,
  type RuleProblem,
  type RunEvaluation,
  type RunReading,
  readRun,
} from "@orangebox/decisions"
import { type FoundConfig, findConfig, type IgnoredSetting, ignoredSettingsWarning } from "@orangebox/recorder"
import type { ReaderOptions } from "../open/data-folder.js"
import type { RunReader } from "../open/run-reader.js"
import { type LeftOut, withBodies } from "../run/bodies.js"
import type { LoadedRun } from "../run/load-run.js"
import { checkPlace } from "./check-place.js"
import { judgeCommand } from "./judge-command.js"
import { constraintsFor, type RuleOptions, rulesGiven } from "./rules-given.js"

/** By what runs are judged here, found out once for any number of them. */
export interface Court {
  readonly options: RuleOptions
  readonly config: FoundConfig["config"]
  /** Rules that were typed and take the place of all others. */
  readonly given: readonly CheckedConstraint[] | undefined
  readonly context: CheckContext
  /** Rules of the configuration that cannot be read. */
  readonly problems: readonly RuleProblem[]
  /** What the judge should know about the rules. */
  readonly warnings: readonly string[]
}

export interface JudgedRun {
  readonly run: LoadedRun
  readonly recorded: RecordedRun
  readonly reading: RunReading
  readonly evaluation: RunEvaluation
  /** What the run was judged without. */
  readonly leftOut: LeftOut
}

export function openCourt(options: RuleOptions & Pick<ReaderOptions, "data"> & { readonly root?: string }): Court {
  const found = findConfig(process.cwd())
  const warning = found && ignoredSettingsWarning(found.path, found.ignored.filter(isJudge))
  const given = rulesGiven(options)
  const config = found?.config ?? {}
  const problems = compileConstraints(given === undefined ? (config.checks ?? []) : []).flatMap(
    ({ problem }) => problem ?? [],
  )
  const warnings = [...(warning === undefined ? [] : [warning]), ...problems.map(describeRuleProblem)]
  return { options, config, given, context: checkPlace(options), problems, warnings }
}

const isJudge = ({ setting }: IgnoredSetting): boolean => setting.startsWith("judges.")

export interface Asking {
  /** Judges are started only where their word is what was asked for. Aborting ends them. */
  readonly judges?: AbortSignal
}

export async function judgeRun(
  court: Court,
  reader: RunReader,
  run: LoadedRun,
  { judges }: Asking = {},
): Promise<JudgedRun> {
  const { recorded, leftOut } = await withBodies(reader, run)
  const reading = readRun(recorded, court.config.tools === undefined ? {} : { tools: court.config.tools })
  const constraints = court.given ?? constraintsFor(reading, court.config.checks ?? [], court.options)
  const judgements = await verdicts(court, reading, constraints, judges)
  const trail = (): Observability => observabilityOfReading(reading)
  const evaluation = evaluateRun(reading.run, constraints, { ...court.context, judgements, trail })
  return { run, recorded, reading, evaluation, leftOut }
}

async function verdicts(
  { config }: Court,
  { run }: RunReading,
  constraints: readonly CheckedConstraint[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, JudgeOutcome>> {
  const outcomes = new Map<string, JudgeOutcome>()
  for (const question of judgeQuestions(run, constraints)) {
    const command = Object.hasOwn(config.judges ?? {}, question.judge) ? config.judges?.[question.judge] : undefined
    signal?.throwIfAborted()
    const outcome: JudgeOutcome =
      signal === undefined
        ? { isAnswered: false, reason: "judges are asked by: orangebox check" }
        : await askJudge(command && judgeCommand(command), question, signal)
    outcomes.set(question.constraint.id, outcome)
  }
  signal?.throwIfAborted()
  return outcomes
}
