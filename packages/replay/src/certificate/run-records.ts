import { type BodyMask, canonicalJson, type Event, payloadOf, refFieldsOf } from "@orangebox/contract"
import { foldRun, isWorkspaceLook, type Run, type Step } from "@orangebox/runs"
import { areSameTags, haveSameSecrets, masksIn, tagsIn } from "../diff/body-masks.js"
import { isSnapshot } from "../diff/event-steps.js"
import { thrownIn } from "../diff/step-reader.js"
import type { Compared } from "../generated.js"
import type { Bodies } from "../tape/tape.js"
import { FIELDS } from "./compared-fields.js"

/** One thing that a run has on record beside its calls. */
export interface RunRecord {
  readonly part: RecordPart
  /** In words, for the reader of a difference. */
  readonly what: string
  /** Equal for equal things; secrets are compared by their masks. */
  readonly value: string
  readonly masks: readonly (readonly BodyMask[])[]
  /** Of errors, whose stacks differ by themselves. */
  readonly tags: readonly string[]
}

/** What is held against each other record by record; calls are compared one by one, and files as a whole. */
const PARTS = [
  "input",
  "steps",
  "verdicts",
  "artifacts",
  "ending",
  "exit_status",
  "final_output",
] as const satisfies readonly Compared[]
export type RecordPart = (typeof PARTS)[number]
const isPart = (treatment: unknown): treatment is RecordPart => PARTS.some((part) => part === treatment)

export interface RecordedRun {
  readonly run: Run
  readonly bodies: Bodies
  /** Steps of calls, which are compared apart. */
  isCall(stepId: string): boolean
  /** Steps whose insides are not done again, because they are answered from a tape. */
  isAnswered(stepId: string): boolean
}

/** Everything on record of a run beside its calls and its files. What was deduced is none of it. */
export function recordsOf(recorded: RecordedRun): RunRecord[] {
  const { run } = recorded
  const records = [endingOf(recorded), ...exitOf(run)]
  for (const step of run.steps) {
    if (isWorkspaceLook(step) || isInside(step, recorded)) continue
    const path = pathOf(step)
    for (const event of step.events) {
      // The question and the answer of a retrieval stand in an event of their own, between those of its step.
      const isCall = recorded.isCall(step.id) && payloadOf(step.opened)["kind"] !== "retrieval"
      const isOfCall = isCall && (event === step.opened || event === step.closed)
      const isEnd = event.event_type === "run_completed" || event.event_type === "run_failed"
      if (event.sequence_no === null || event.inferred_by !== undefined || isOfCall || isEnd || isSnapshot(event))
        continue
      records.push(...recordOf(event, path, recorded.bodies))
    }
  }
  return records
}

/** How many records stand inside calls that are answered from a tape, and are not made again. */
export const recordsInside = (recorded: RecordedRun): number =>
  recorded.run.steps
    .filter((step) => isInside(step, recorded))
    .flatMap(({ events }) => events)
    .flatMap((event) => recordOf(event, "", recorded.bodies)).length

function isInside({ parent }: Step, recorded: RecordedRun): boolean {
  for (let step = parent; step; step = step.parent) if (recorded.isAnswered(step.id)) return true
  return false
}

/** The names of the steps around, from the outermost in. */
export function pathOf(step: Step): string {
  const names: string[] = []
  for (let around: Step | undefined = step; around; around = around.parent) {
    if (around.kind === "step") names.unshift(around.name ?? "")
  }
  return names.join(" > ")
}

function recordOf(event: Event, path: string, bodies: Bodies): RunRecord[] {
  const fields: Record<string, unknown> = {}
  const masks: BodyMask[][] = []
  let tags: readonly string[] = []
  let part: RecordPart | undefined
  const refs = new Set(refFieldsOf(event.event_type))
  const payload = payloadOf(event)
  for (const [field, treatment] of Object.entries(FIELDS[event.event_type]) as [string, unknown][]) {
    const value = payload[field]
    if (!isPart(treatment) || value === undefined || value === null) continue
    part = treatment
    if (ERRORS.has(field)) {
      fields[field] = thrownIn(bodies.get(String(value))) ?? null
      tags = tagsIn(event, String(value))
      continue
    }
    fields[field] = value
    if (refs.has(field)) masks.push(masksIn(event, String(value)))
  }
  if (part === undefined) return []
  const what = `${WORDS[event.event_type] ?? event.event_type}${path === "" ? "" : ` in ${path}`}`
  return [{ part, what, value: canonicalJson(fields as never), masks, tags }]
}

const ERRORS: ReadonlySet<string> = new Set(["error_ref", "error_message_ref"])

const WORDS: { readonly [T in Event["event_type"]]?: string } = {
  run_started: "the beginning",
  input_received: "the input",
  step_started: "a step",
  step_ended: "the end of a step",
  validator_decision: "a validator's decision",
  safety_decision: "a safety decision",
  decision: "a decision",
  artifact_recorded: "an artifact",
  final_output: "the final output",
}

/** How a run ended, also where no record of it says so. */
function endingOf({ run, bodies }: RecordedRun): RunRecord {
  const closed = run.steps[0]?.closed
  const closing = closed?.event_type === "run_failed" ? closed.payload : undefined
  const ref = closing?.error_message_ref ?? undefined
  const thrown = ref === undefined ? undefined : thrownIn(bodies.get(ref))
  const ended = { ended: run.status, error_class: closing?.error_class ?? null, error: closing?.error_summary ?? null }
  return {
    part: "ending",
    what: "how the run ended",
    value: canonicalJson({ ...ended, thrown: thrown ?? null }),
    masks: [],
    tags: tagsIn(closed, ref),
  }
}

function exitOf(run: Run): RunRecord[] {
  const { exit_code = null, signal = null } = payloadOf(run.steps[0]?.closed)
  if (exit_code === null && signal === null) return []
  const value = canonicalJson({ exit_code, signal } as never)
  return [{ part: "exit_status", what: "the exit status", value, masks: [], tags: [] }]
}

/** Two records that stand for each other; undefined where the other run has none. */
interface RecordPair {
  readonly was: RunRecord | undefined
  readonly is: RunRecord | undefined
}

/** Equal records first; of what is left, those of one kind stand for each other in their order. */
function pairsOf(was: readonly RunRecord[], is: readonly RunRecord[]): RecordPair[] {
  const pairs: RecordPair[] = []
  const left = paired(was, is, ({ what, value }) => `${what}\0${value}`, pairs)
  const rest = paired(left.was, left.is, ({ what }) => what, pairs)
  for (const record of rest.was) pairs.push({ was: record, is: undefined })
  for (const record of rest.is) pairs.push({ was: undefined, is: record })
  return pairs
}

function paired(
  was: readonly RunRecord[],
  is: readonly RunRecord[],
  keyOf: (record: RunRecord) => string,
  pairs: RecordPair[],
): { readonly was: readonly RunRecord[]; readonly is: readonly RunRecord[] } {
  const waiting = new Map<string, RunRecord[]>()
  for (const record of is) waiting.set(keyOf(record), [...(waiting.get(keyOf(record)) ?? []), record])
  const alone = was.filter((record) => {
    const other = waiting.get(keyOf(record))?.shift()
    if (other) pairs.push({ was: record, is: other })
    return other === undefined
  })
  const taken = new Set(pairs.map((pair) => pair.is))
  return { was: alone, is: is.filter((record) => !taken.has(record)) }
}

export interface ComparedRecords {
  readonly differences: readonly string[]
  /** The parts of which there is anything to compare. */
  readonly parts: readonly RecordPart[]
  /** Secrets of the source of which the replay has only the masks. */
  readonly servedMasks: readonly BodyMask[]
}

/** Holds what two runs have on record against each other. */
export function compareRecords(source: RecordedRun, replay: RecordedRun): ComparedRecords {
  const [was, is] = [recordsOf(source), recordsOf(replay)]
  const hasExit = (records: readonly RunRecord[]): boolean => records.some(({ part }) => part === "exit_status")
  // An exit that only one of them has on record is not compared, and the certificate says so.
  const isExitKnown = hasExit(was) && hasExit(is)
  const known = (records: readonly RunRecord[]) => records.filter(({ part }) => isExitKnown || part !== "exit_status")
  const differences: string[] = []
  const servedMasks: BodyMask[] = []
  for (const pair of pairsOf(known(was), known(is))) {
    const difference = differenceIn(pair)
    if (difference !== undefined) differences.push(difference)
    else servedMasks.push(...lostSecrets(pair.was!, pair.is!))
  }
  return { differences, parts: [...new Set(known(was).map(({ part }) => part))], servedMasks }
}

function differenceIn({ was, is }: RecordPair): string | undefined {
  if (was === undefined) return `${is!.what} is there that was not recorded: ${shown(is!)}`
  if (is === undefined) return `${was.what} was recorded and is not there: ${shown(was)}`
  if (was.value !== is.value) return `${was.what} differs: ${shown(was)} was recorded, it is ${shown(is)}`
  const areSame =
    areSameTags(was.tags, is.tags) && was.masks.every((masks, index) => haveSameSecrets(masks, is.masks[index] ?? []))
  return areSame ? undefined : `${was.what} holds another secret where the masks look alike: ${shown(was)}`
}

const lostSecrets = (was: RunRecord, is: RunRecord): readonly BodyMask[] =>
  was.masks.flatMap((masks, index) => {
    const kept = new Set((is.masks[index] ?? []).map(({ offset }) => offset))
    return masks.filter(({ offset }) => !kept.has(offset))
  })

const LONGEST = 240
const shown = ({ value }: RunRecord): string => (value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value)

/** The runs of a recording by their ids. */
export function runsOf(events: readonly Event[]): ReadonlyMap<string, Run> {
  const own = new Map<string, Event[]>()
  for (const event of events) {
    if (event.run_id === null) continue
    const list = own.get(event.run_id)
    if (list) list.push(event)
    else own.set(event.run_id, [event])
  }
  return new Map([...own].map(([runId, list]) => [runId, foldRun(list)]))
}
