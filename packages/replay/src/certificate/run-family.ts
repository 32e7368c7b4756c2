import type { BodyMask, Event } from "@orangebox/contract"
import type { Run } from "@orangebox/runs"
import { plural } from "@orangebox/text"
import type { Certificate } from "../generated.js"
import type { Bodies, CallKind, Tape, TapeCall } from "../tape/tape.js"
import { isCounted } from "./fingerprint.js"
import { compareRecords, pathOf, type RecordedRun, recordsInside, runsOf } from "./run-records.js"

/** A run with those that were started from inside it. */
export interface RecordedFamily {
  readonly events: readonly Event[]
  readonly bodies: Bodies
  readonly tape: Tape
}

export interface ComparedFamily {
  readonly differences: readonly string[]
  readonly runs: Certificate["runs"]
  readonly servedMasks: readonly BodyMask[]
  readonly unknown: readonly { readonly what: string; readonly why: string }[]
}

/** Every run of a source against the one that stands for it in a replay: what they were given, recorded, came to and gave. */
export function compareFamilies(
  source: RecordedFamily,
  replay: RecordedFamily,
  covers: readonly CallKind[],
): ComparedFamily {
  const [were, are] = [membersOf(source, covers), membersOf(replay, covers)]
  const { pairs, alone } = pairRuns(were, are, source.tape, replay.tape)
  const differences = [...alone, ...otherPaths(source.tape, replay.tape, were, are, covers)]
  const servedMasks: BodyMask[] = []
  const runs: Certificate["runs"] = []
  for (const [was, is] of pairs) {
    const isMain = was.run.runId === source.tape.runId
    const compared = compareRecords(was, is)
    const where = isMain ? "" : ` (run ${entrypointOf(was.run)}, ${was.run.runId})`
    differences.push(...compared.differences.map((difference) => `${difference}${where}`))
    servedMasks.push(...compared.servedMasks)
    runs.push({ ...runOf(was.run), replay_run: is.run.runId ?? null, compared: [...compared.parts] })
  }
  const inside = were.reduce((sum, member) => sum + recordsInside(member), 0)
  const unknown =
    inside === 0
      ? []
      : [{ what: `${plural(inside, "record")} made inside calls`, why: "the calls were answered, and not made again" }]
  return { differences, runs, servedMasks, unknown }
}

/** The same where nothing ran. */
export const familyAlone = (source: RecordedFamily, covers: readonly CallKind[]): Certificate["runs"] =>
  membersOf(source, covers).map(({ run }) => ({ ...runOf(run), replay_run: null, compared: [] }))

const runOf = (run: Run): Pick<Certificate["runs"][number], "entrypoint" | "source_run" | "ended"> => ({
  entrypoint: entrypointOf(run),
  source_run: run.runId ?? "",
  ended: run.status,
})

const entrypointOf = ({ facts }: Run): string => facts.entrypoint ?? "?"

/** The runs of a recording, the one that started the others first. A run that an answered call started is not started again. */
function membersOf({ events, bodies, tape }: RecordedFamily, covers: readonly CallKind[]): readonly RecordedRun[] {
  const calls = new Map(tape.calls.map((call) => [call.stepId.split("#")[0]!, call]))
  const isAnswered = (stepId: string): boolean => {
    const call = calls.get(stepId)
    return call !== undefined && !call.isInferred && covers.includes(call.kind)
  }
  const isStartedInside = (run: Run): boolean => {
    for (let id = tape.steps.get(run.steps[0]?.id ?? "")?.parentStepId; id; id = tape.steps.get(id)?.parentStepId) {
      if (isAnswered(id)) return true
    }
    return false
  }
  const runs = [...runsOf(events).values()].filter((run) => run.own.length > 0 && !isStartedInside(run))
  const main = runs.filter(({ runId }) => runId === tape.runId)
  const startedAt = ({ steps }: Run): number => tape.steps.get(steps[0]?.id ?? "")?.openedAt ?? 0
  const others = runs.filter(({ runId }) => runId !== tape.runId).sort((a, b) => startedAt(a) - startedAt(b))
  return [...main, ...others].map((run) => ({ run, bodies, isCall: (stepId) => calls.has(stepId), isAnswered }))
}

type Pair = readonly [was: RecordedRun, is: RecordedRun]

/** By the calls that a run was answered, which name those of the source; runs without any by what they are called, in their order. */
function pairRuns(
  were: readonly RecordedRun[],
  are: readonly RecordedRun[],
  source: Tape,
  replay: Tape,
): { readonly pairs: readonly Pair[]; readonly alone: readonly string[] } {
  const originals = new Map(source.calls.map((call) => [call.stepId, call.runId]))
  const standsFor = new Map([[replay.runId, source.runId]])
  for (const { runId, replayed } of replay.calls) {
    const was = originals.get(replayed?.sourceStepId ?? "")
    if (was !== undefined && !standsFor.has(runId)) standsFor.set(runId, was)
  }
  const pairs: Pair[] = []
  const waiting = [...were]
  const take = (isIt: (run: RecordedRun) => boolean): RecordedRun | undefined => {
    const at = waiting.findIndex(isIt)
    return at < 0 ? undefined : waiting.splice(at, 1)[0]
  }
  const unnamed = are.filter((is) => {
    const named = standsFor.get(is.run.runId ?? "")
    const was = named === undefined ? undefined : take(({ run }) => run.runId === named)
    if (was) pairs.push([was, is])
    return was === undefined
  })
  const alone = unnamed.flatMap((is) => {
    const was = take(({ run }) => entrypointOf(run) === entrypointOf(is.run))
    if (was) pairs.push([was, is])
    return was ? [] : [`the run ${entrypointOf(is.run)} (${is.run.runId}) was started that is not in the recording`]
  })
  const missing = waiting.map(({ run }) => `the run ${entrypointOf(run)} (${run.runId}) was not started again`)
  const order = new Map(were.map((was, at) => [was, at]))
  return { pairs: pairs.sort(([a], [b]) => order.get(a)! - order.get(b)!), alone: [...alone, ...missing] }
}

/** Calls that are made inside of other steps than they were. */
function otherPaths(
  source: Tape,
  replay: Tape,
  were: readonly RecordedRun[],
  are: readonly RecordedRun[],
  covers: readonly CallKind[],
): string[] {
  const originals = new Map(source.calls.map((call) => [call.stepId, call]))
  const pathIn = (members: readonly RecordedRun[], { stepId }: TapeCall): string | undefined => {
    for (const { run } of members) {
      const step = run.stepOf(stepId.split("#")[0]!)
      if (step) return step.parent ? pathOf(step.parent) : ""
    }
    return undefined
  }
  return replay.calls.flatMap((is) => {
    const was = originals.get(is.replayed?.sourceStepId ?? "")
    if (was === undefined || !isCounted(is, covers) || !isCounted(was, covers)) return []
    const [before, now] = [pathIn(were, was), pathIn(are, is)]
    if (before === now) return []
    return [
      `${was.kind} ${was.name} (${was.stepId}) was made in step ${before || "none"}, and is now made in ${now || "none"}`,
    ]
  })
}
