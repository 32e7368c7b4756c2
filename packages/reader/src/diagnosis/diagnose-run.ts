import { InputError } from "@orangebox/contract"
import { askJudge, diagnosisQuestion, type RunReading } from "@orangebox/decisions"
import { type CaseFile, type Diagnosis, diagnose, type JudgeWord, skeletonText } from "@orangebox/query"
import type { Target, TraceReader } from "@orangebox/store"
import { safeJson } from "@orangebox/text"
import { judgeCommand } from "../judging/judge-command.js"
import { type Court, openCourt } from "../judging/judged-run.js"
import type { RunReader } from "../open/run-reader.js"
import { everyRun, type LoadedRun, loadRun } from "../run/load-run.js"
import { type CaseAsked, loadCase } from "./load-case.js"

export interface DiagnosisAsked extends CaseAsked {
  readonly data?: string | undefined
  /** A judge of the configuration to ask as well; aborting ends it. */
  readonly judge?: { readonly name: string; readonly signal: AbortSignal }
}

/** What is broken in a run. @param store where the runs beside it are, unless it stands in a file */
export async function diagnoseRun(
  reader: RunReader,
  store: TraceReader | undefined,
  run: LoadedRun,
  { data, judge, ...told }: DiagnosisAsked = {},
): Promise<Diagnosis> {
  const { file, court, judged } = await loadCase(reader, store, run, data, told)
  const diagnosis = diagnose(file)
  if (judge === undefined) return diagnosis
  return diagnose(file, await judgeWord(court, judged.reading, { file, diagnosis }, judge))
}

/** A judge that is not configured is a mistake of the user, and is reported before anything is read. */
export function checkJudge(name: string): void {
  const judges = Object.keys(openCourt({}).config.judges ?? {})
  if (judges.includes(name)) return
  const known = judges.length === 0 ? "none is configured" : `there is ${judges.map((one) => safeJson(one)).join(", ")}`
  throw new InputError("NO_JUDGE", {
    what: `no judge is called ${safeJson(name)}: ${known}`,
    next: "Judges are commands under judges in orangebox.config.json: see docs/checks.md",
  })
}

const SKELETON_BUDGET = 6000

async function judgeWord(
  { config }: Court,
  { run }: RunReading,
  { file, diagnosis }: { readonly file: CaseFile; readonly diagnosis: Diagnosis },
  { name, signal }: NonNullable<DiagnosisAsked["judge"]>,
): Promise<JudgeWord> {
  const { view, told } = file
  const question = diagnosisQuestion(run, name, {
    expected: told.expected ?? null,
    skeleton: skeletonText(view, { budget: SKELETON_BUDGET }),
    findings: diagnosis.findings.map(({ cause, detector, claim }) => ({ step_no: cause, detector, claim })),
    suspects: diagnosis.suspects.map(({ n, why }) => ({
      step_no: n,
      step_id: view.steps[n - 1]?.id ?? "",
      why: [...why],
    })),
  })
  const command = Object.hasOwn(config.judges ?? {}, name) ? config.judges?.[name] : undefined
  const outcome = await askJudge(command && judgeCommand(command), question, signal)
  signal.throwIfAborted()
  return { judge: name, outcome }
}

/** So many runs of one id are looked at, the latest. */
const MOST_RUNS = 12

/** The runs that an id stands in, oldest first, where it can stand in several; undefined for what belongs to one. */
export async function runsTogether(
  store: TraceReader,
  { kind, id }: Target,
): Promise<{ readonly runs: readonly LoadedRun[]; readonly total: number } | undefined> {
  const ids =
    kind === "conversation" || kind === "trace"
      ? await idsOfThread(store, kind === "trace" ? { traceId: id } : { conversationId: id })
      : kind === "message" || kind === "tool_call"
        ? await idsOfPlaces(store, kind, id)
        : []
  if (ids.length < 2) return undefined
  const runs = await Promise.all(ids.slice(-MOST_RUNS).map((runId) => loadRun(store, runId)))
  return { runs: runs.filter((run) => run !== undefined), total: ids.length }
}

async function idsOfThread(store: TraceReader, query: Parameters<typeof everyRun>[1]): Promise<string[]> {
  const ids: string[] = []
  for await (const { runId } of everyRun(store, query)) ids.unshift(runId)
  return ids
}

/** More places than this no message has in good health. */
const MOST_PLACES = 200

async function idsOfPlaces(store: TraceReader, kind: Target["kind"], id: string): Promise<string[]> {
  const { rows } = await store.occurrencesOf(kind, id, { from: 0, limit: MOST_PLACES })
  return [...new Set(rows.flatMap(({ runId }) => runId ?? []))]
}
