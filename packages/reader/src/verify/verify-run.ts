import { type Event, isEventType, type Problem, payloadRefs, validate, validateRun } from "@orangebox/contract"
import { type Observability, observabilityOf } from "@orangebox/decisions"
import { refusedContexts } from "@orangebox/query"
import { crashWords, hasEnded, isOpen } from "@orangebox/runs"
import { type Absence, END_IN_DOUBT, type EventRedaction, isAbsent } from "@orangebox/store"
import { plural } from "@orangebox/text"
import { findRun } from "../address/find-target.js"
import type { RunReading } from "../open/run-at.js"
import type { RunReader } from "../open/run-reader.js"
import { type LeftOut, withBodies } from "../run/bodies.js"
import type { LoadedRun } from "../run/load-run.js"
import { sourceProblems } from "./source-problems.js"

export interface RunVerdict {
  readonly runId: string
  readonly status: LoadedRun["row"]["status"]
  /** Why there is no end on record, in our words; null where there is one, or nothing is known. */
  readonly endedBy: string | null
  readonly events: number
  /** Null where events cannot be read: what is left has another. */
  readonly digest: string | null
  /** What breaks the contract. None of it means the run is as it was recorded. */
  readonly findings: readonly Problem[]
  /** Steps and runs without an end: normal for a live run, evidence in a crashed one, never corruption. */
  readonly open: readonly Problem[]
  /** How many steps have no end, as every view counts them: also those whose opening is lost. */
  readonly openSteps: number
  /** Losses that were declared when they happened, and absences that say why. */
  readonly declared: readonly Problem[]
  readonly bodies: { readonly present: number; readonly absent: number }
  /** Where the trail has holes. The run is as it was recorded all the same. */
  readonly trail: Trail
  /** What was taken out after it had been recorded. Not corruption, but a digest of before cannot be proven any more. */
  readonly redacted: { readonly events: number; readonly bodies: number; readonly onMs: number | null }
}

/** Where a run's trail has holes, as far as its bodies could be looked at. */
export interface Trail extends Observability {
  readonly leftOut: LeftOut
}

/** One run by every rule of the contract, and its bodies by their hashes; a file that it stands in, to the byte. */
export async function verifyAt({ reader, address, file }: RunReading): Promise<RunVerdict> {
  const run = await findRun(reader, address)
  const verdict = await verifyRun(reader, run, { readBodies: true })
  return file ? verdictOnFile(file.problems, verdict) : verdict
}

/** Whether a body that a damaged file lacks was there when it was written cannot be told: they are one finding and not one each. */
function verdictOnFile(problems: readonly Problem[], verdict: RunVerdict): RunVerdict {
  const { runId, findings, declared } = verdict
  const isMissing = ({ code }: Problem): boolean => code === "body_missing"
  const others = (list: readonly Problem[]): Problem[] => list.filter((problem) => !isMissing(problem))
  if (problems.length === 0) return verdict
  const missing = [...findings, ...declared].filter(isMissing).length
  const reason = `${plural(missing, "body", "bodies")} cannot be read: behind the damage, or not there when the file was written`
  const notThere: Problem = { code: "bodies_missing", severity: "error", subject: runId, field: "", reason }
  return {
    ...verdict,
    findings: [...problems, ...(missing > 0 ? [notThere] : []), ...others(findings)],
    declared: others(declared),
  }
}

/** Every rule of the contract over one run, and its bodies read back and hashed where that is asked. */
export async function verifyRun(
  store: RunReader,
  run: LoadedRun,
  options: { readonly readBodies: boolean },
): Promise<RunVerdict> {
  const { runId } = run.row
  const { bodies, ...problems } = await problemsOfRun(store, run, options)
  const states = [...bodies.values()]
  const absent = states.filter((state) => typeof state === "object")
  const { recorded, leftOut } = await withBodies(store, run)
  return {
    runId,
    status: run.row.status,
    endedBy: run.view.crash ? crashWords(run.view.crash) : null,
    events: run.recorded.length,
    openSteps: run.view.steps.filter(({ status }) => isOpen(status)).length,
    digest: run.row.lacksEvents ? null : run.digest,
    ...problems,
    bodies: { present: states.filter((state) => state === "present").length, absent: absent.length },
    trail: { ...observabilityOf(recorded), leftOut },
    redacted: redactedLater(await store.redactionsOf(runId), absent),
  }
}

/** What is wrong with a run, open or lost in it, and what became of its bodies. */
export async function problemsOfRun(
  store: RunReader,
  run: LoadedRun,
  options: { readonly readBodies: boolean },
): Promise<Pick<RunVerdict, "findings" | "open" | "declared"> & { readonly bodies: ReadonlyMap<string, BodyState> }> {
  const { runId } = run.row
  const bodies = await lookAtBodies(store, run.recorded, options.readBodies)
  const wrong = [...run.recorded, ...run.annotations].flatMap((event) => validate(event))
  const problems = [
    ...wrong,
    ...consequencesAside(validateRun(run.recorded, { hasBody: (hash) => bodies.get(hash) !== "missing" }), wrong),
    ...(await conflicts(store, runId)),
    ...countProblems(run),
    ...stopProblems(run),
    ...(await sourceProblems(store, run)),
    ...refusalProblems(run),
    ...lostEnds(run),
  ]
  const holes = problems.filter(({ code }) => code === "sequence_hole")
  const areHolesDeclared = holes.length > 0 && missingEvents(run.recorded) <= run.declaredLost
  const late = new Set(run.recorded.filter(isMarkedLate).map(({ event_id }) => event_id))
  const isDeclared = (problem: Problem): boolean =>
    problem.code === "sequence_hole"
      ? areHolesDeclared
      : problem.severity === "gap" || (LATE.has(problem.code) && late.has(problem.subject))
  const closed = problems.filter(({ severity }) => severity !== "open")
  return {
    bodies,
    findings: closed.filter((problem) => !isDeclared(problem)),
    open: problems.filter(({ severity }) => severity === "open"),
    declared: closed.filter(isDeclared),
  }
}

/** An application that goes on behind the end of its run or step: the recorder says so on the event, and keeps it. */
const LATE: ReadonlySet<string> = new Set(["after_the_end", "after_step_end", "parent_closed"])

const isMarkedLate = ({ problems = [] }: Event): boolean => problems.some(({ code }) => LATE.has(code))

/** The run has no end on record, and one may have been lost with what cannot be read. */
const lostEnds = ({ view, row }: LoadedRun): Problem[] =>
  view.gaps
    .filter(({ mayBeEnd }) => mayBeEnd)
    .map(({ reason }) => ({ code: END_IN_DOUBT, severity: "gap", subject: row.runId, field: "", reason }))

/** An application told of a context, and nothing of it was recorded. */
const refusalProblems = ({ view }: LoadedRun): Problem[] =>
  refusedContexts(view).map(({ n, event }) => ({
    code: "context_refused",
    severity: "error",
    subject: event.event_id,
    field: "",
    reason: `step #${n} told of a context that could not be recorded; its calls are not accounted for`,
  }))

/** A value that is wrong in itself fits no other either; that it does not is no second finding. */
function consequencesAside(problems: readonly Problem[], wrong: readonly Problem[]): Problem[] {
  const places = new Set(wrong.map(({ subject, field }) => `${subject}\0${field}`))
  return problems.filter(({ subject, field }) => !places.has(`${subject}\0${field}`))
}

/** A body that is absent says why (pruned, redacted); one that is missing should be there. */
type BodyState = "present" | "missing" | Absence

async function lookAtBodies(
  store: RunReader,
  events: readonly Event[],
  isReading: boolean,
): Promise<Map<string, BodyState>> {
  const states = new Map<string, BodyState>()
  for (const event of events) {
    if (!isEventType(event.event_type)) continue
    for (const { hash } of payloadRefs(event.event_type, event.payload)) {
      if (!states.has(hash)) states.set(hash, await stateOf(store, hash, isReading))
    }
  }
  return states
}

async function stateOf(store: RunReader, hash: string, isReading: boolean): Promise<BodyState> {
  const info = await store.bodyInfo(hash)
  if (!info) return "missing"
  if (info.absent) return isExplained(info.absent.absent) ? info.absent : "missing"
  if (!isReading) return "present"
  // The store hashes what it reads, and calls bytes that have another hash lost.
  const reading = await store.readBody(hash)
  return isAbsent(reading) && !isExplained(reading.absent) ? "missing" : "present"
}

const isExplained = (reason: string): boolean => reason === "pruned" || reason === "redacted_later"

function redactedLater(events: readonly EventRedaction[], absent: readonly Absence[]): RunVerdict["redacted"] {
  const bodies = absent.filter((body) => body.absent === "redacted_later")
  const times = [...events.map(({ atMs }) => atMs), ...bodies.flatMap(({ onMs }) => onMs ?? [])]
  return { events: events.length, bodies: bodies.length, onMs: times.length === 0 ? null : Math.max(...times) }
}

async function conflicts(store: RunReader, runId: string): Promise<Problem[]> {
  return (await store.conflictsOf(runId)).map(({ event }) => ({
    code: "conflict",
    severity: "error",
    subject: event.event_id,
    field: "",
    reason: "two records have this id and say different things",
  }))
}

function missingEvents(events: readonly Event[]): number {
  const last = events.at(-1)?.sequence_no ?? -1
  return last + 1 - events.length
}

/** A run that was stopped under `audit: "required"` is not as it was meant to be recorded, and cannot have completed. */
function stopProblems({ row, recorded: events, annotations }: LoadedRun): Problem[] {
  return [...events, ...annotations].flatMap((event): Problem[] => {
    if (event.event_type !== "fault" || event.payload.stops_run !== true) return []
    const isCompleted = row.status === "completed"
    const reason = `the run was stopped (${event.payload.detail})${isCompleted ? ", and yet it says that it completed" : ""}`
    const severity = isCompleted ? "error" : "gap"
    return [{ code: "run_stopped", severity, subject: event.event_id, field: "", reason }]
  })
}

/** What was counted as it came in must still be there; an end that was cut off would otherwise look like a run that goes on. */
function countProblems({ row, recorded: events, annotations }: LoadedRun): Problem[] {
  const present = events.length + annotations.length
  const cameIn = row.events + row.annotations
  if (!hasEnded(row.status) || present === cameIn) return []
  const reason = `${cameIn} events came in, ${present} are there`
  return [{ code: "event_count", severity: "error", subject: row.runId, field: "", reason }]
}
