import { type Event, isEventType, type Problem, payloadRefs, validate, validateRun } from "@orangebox/contract"
import { isAbsent } from "@orangebox/store"
import type { RunReader } from "../open/run-reader.js"
import type { LoadedRun } from "../run/load-run.js"
import type { Trail } from "./trail-of.js"

export interface RunVerdict {
  readonly runId: string
  readonly status: LoadedRun["row"]["status"]
  readonly events: number
  readonly digest: string
  /** What breaks the contract. None of it means the run is as it was recorded. */
  readonly findings: readonly Problem[]
  /** Steps and runs without an end: normal for a live run, evidence in a crashed one, never corruption. */
  readonly open: readonly Problem[]
  /** Losses that were declared when they happened, and absences that say why. */
  readonly declared: readonly Problem[]
  readonly bodies: { readonly present: number; readonly absent: number }
  /** Where the trail has holes. The run is as it was recorded all the same. */
  readonly trail: Trail
  /** What was taken out after it had been recorded. Not corruption, but a digest of before cannot be proven any more. */
  readonly redacted: { readonly events: number; readonly bodies: number; readonly onMs: number | null }
}

/** Every rule of the contract over one stored run, and its bodies read back and hashed where that is asked. */
export async function verifyRun(
  store: RunReader,
  run: LoadedRun,
  options: { readonly readBodies: boolean },
): Promise<Omit<RunVerdict, "trail">> {
  const { runId } = run.row
  const bodies = await lookAtBodies(store, run.events, options.readBodies)
  const wrong = [...run.events, ...run.annotations].flatMap((event) => validate(event))
  const problems = [
    ...wrong,
    ...consequencesAside(validateRun(run.events, { hasBody: (hash) => bodies.get(hash) !== "missing" }), wrong),
    ...(await conflicts(store, runId)),
    ...countProblems(run),
  ]
  const holes = problems.filter(({ code }) => code === "sequence_hole")
  const areHolesDeclared = holes.length > 0 && missingEvents(run.events) <= run.declaredLost
  const isDeclared = (problem: Problem): boolean =>
    problem.code === "sequence_hole" ? areHolesDeclared : problem.severity === "gap"
  const closed = problems.filter(({ severity }) => severity !== "open")
  const absent = [...bodies.values()].filter((state) => state === "absent").length
  return {
    runId,
    status: run.row.status,
    events: run.events.length,
    digest: run.digest,
    findings: closed.filter((problem) => !isDeclared(problem)),
    open: problems.filter(({ severity }) => severity === "open"),
    declared: closed.filter(isDeclared),
    bodies: { present: [...bodies.values()].filter((state) => state === "present").length, absent },
    redacted: await redactedLater(store, runId, bodies),
  }
}

/** A value that is wrong in itself fits no other either; that it does not is no second finding. */
function consequencesAside(problems: readonly Problem[], wrong: readonly Problem[]): Problem[] {
  const places = new Set(wrong.map(({ subject, field }) => `${subject}\0${field}`))
  return problems.filter(({ subject, field }) => !places.has(`${subject}\0${field}`))
}

type BodyState = "present" | "absent" | "missing"

/** `absent` bodies say why (pruned, redacted); `missing` ones should be there. */
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
  if (info.absent) return isExplained(info.absent.absent) ? "absent" : "missing"
  if (!isReading) return "present"
  // The store hashes what it reads, and calls bytes that have another hash lost.
  const reading = await store.readBody(hash)
  return isAbsent(reading) && !isExplained(reading.absent) ? "missing" : "present"
}

const isExplained = (reason: string): boolean => reason === "pruned" || reason === "redacted_later"

async function redactedLater(
  store: RunReader,
  runId: string,
  bodies: ReadonlyMap<string, BodyState>,
): Promise<RunVerdict["redacted"]> {
  const events = await store.redactionsOf(runId)
  const times = events.map(({ atMs }) => atMs)
  let count = 0
  for (const [hash, state] of bodies) {
    if (state !== "absent") continue
    const absent = (await store.bodyInfo(hash))?.absent
    if (absent?.absent !== "redacted_later") continue
    count++
    if (absent.onMs !== undefined) times.push(absent.onMs)
  }
  return {
    events: events.length,
    bodies: count,
    onMs: times.reduce<number | null>((a, b) => Math.max(a ?? b, b), null),
  }
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

/** What was counted as it came in must still be there; an end that was cut off would otherwise look like a run that goes on. */
function countProblems({ row, events, annotations }: LoadedRun): Problem[] {
  const present = events.length + annotations.length
  const hasEnded = row.status === "completed" || row.status === "failed"
  if (!hasEnded || present === row.events) return []
  const reason = `${row.events} events came in, ${present} are there`
  return [{ code: "event_count", severity: "error", subject: row.runId, field: "", reason }]
}
