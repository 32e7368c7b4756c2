import { textHash } from "@orangebox/contract"
import { addToList } from "../add-to-list.js"
import { EVERYTHING } from "../tape/served-tools.js"
import type { CallKind, RecordedAnswer, Tape, TapeCall } from "../tape/tape.js"
import { Branches } from "./branches.js"

/** A replay, and the recording it is held against. */
export interface SourceOf {
  readonly source: Tape
}

/**
 * What a run asked, was answered and did, as one hash.
 *
 * Calls with equal questions count in order, lane by lane; calls with different questions count as a set, and calls that may have changed
 * something outside count once more, in the order in which they were made. Which of them overlapped is for the recording to say: a replay
 * answers in microseconds what took seconds, so calls that overlapped there may not do so here. Where order matters to a model it is in the
 * question, because every request carries its history. Names of steps, lanes and runs are new in every run and stay out.
 *
 * @param replayOf of a replay: what it is a replay of. Its calls count as the ones they stand for, because a question that matched under
 *   masks is another one by design.
 */
export function fingerprintOf(tape: Tape, covers: readonly CallKind[] = EVERYTHING, replayOf?: SourceOf): string {
  const originals = replayOf && new Map(replayOf.source.calls.map((call) => [call.stepId, call]))
  const byId = new Map(tape.calls.map((call) => [call.stepId, call]))
  const hashes = new Map<TapeCall, string>()
  const sequences = new Map<string, string[]>()
  for (const call of tape.calls) {
    if (!isCounted(call, covers)) continue
    const sig =
      call.replayed?.tier === "masked" ? (originals?.get(call.replayed.sourceStepId)?.sig ?? call.sig) : call.sig
    const hash = stepHash(call, sig, triesOf(call, byId))
    hashes.set(call, hash)
    addToList(sequences, `${call.lane}\0${call.kind}\0${sig}`, hash)
  }
  const questions = [...sequences].map(([key, steps]) =>
    textHash(`${key.slice(key.indexOf("\0") + 1)}\0${steps.join("\0")}`),
  )
  const runs = new Map<string, TapeCall[]>()
  for (const call of hashes.keys()) {
    const was = originals?.get(call.replayed?.sourceStepId ?? "")
    if (mayChangeSomething(call)) addToList(runs, was?.runId ?? call.runId, call)
  }
  const branches = new Branches(replayOf?.source ?? tape)
  // Runs of sub-agents have clocks of their own: between two of them there is no order to keep.
  const effects = [...runs.values()].map((calls) =>
    JSON.stringify(
      effectGroups(calls, replayOf, branches).map((group) => group.map((call) => hashes.get(call)!).sort()),
    ),
  )
  return textHash(`obx-run-fingerprint\0${3}\0${JSON.stringify([questions.sort(), effects.sort()])}`)
}

/** Calls that may have changed something, one group after the other; those of one group were under way together. */
function effectGroups(
  calls: readonly TapeCall[],
  replayOf: SourceOf | undefined,
  branches: Branches,
): readonly (readonly TapeCall[])[] {
  if (replayOf === undefined) return groupsByOverlap(calls, branches)
  const standFor = new Set(calls.map(({ replayed }) => replayed?.sourceStepId))
  const recorded = replayOf.source.calls.filter(({ stepId }) => standFor.has(stepId))
  const groupOf = new Map<string, number>()
  for (const [index, group] of groupsByOverlap(recorded, branches).entries()) {
    for (const { stepId } of group) groupOf.set(stepId, index)
  }
  const groups: TapeCall[][] = []
  let last: number | undefined
  for (const call of calls) {
    const index = groupOf.get(call.replayed?.sourceStepId ?? "")
    if (index === undefined || index !== last) groups.push([])
    groups.at(-1)!.push(call)
    last = index
  }
  return groups
}

function groupsByOverlap(calls: readonly TapeCall[], branches: Branches): readonly (readonly TapeCall[])[] {
  const groups: TapeCall[][] = []
  let until = -1
  for (const call of calls) {
    const { openedAt, closedAt } = branches.stretchOf(call)
    if (groups.length === 0 || openedAt > until) groups.push([])
    groups.at(-1)!.push(call)
    until = Math.max(until, closedAt)
  }
  return groups
}

/** What has no description may have written. */
export const mayChangeSomething = ({ effect }: TapeCall): boolean => effect !== "pure" && effect !== "read"

/** Kind, question, status, answer, and the tries it took. */
function stepHash(call: TapeCall, sig: string | null, tries: readonly TapeCall[] = []): string {
  const own = [call.kind, sig ?? "", ...answerWords(call.answer)]
  const tried = tries.map(({ attemptNo, answer }) => [attemptNo, ...answerWords(answer)])
  return textHash(`obx-step\0${JSON.stringify([own, tried])}`)
}

function answerWords(answer: RecordedAnswer | null): readonly (string | number | null)[] {
  if (answer === null) return ["open"]
  const { status, httpStatus, body, error, exitCode } = answer
  return [status, httpStatus, body?.hash ?? null, error?.errorClass ?? null, error?.message ?? null, exitCode]
}

// An aside of the harness may or may not happen again; a try is counted with its call, and so is whatever a call did inside itself; what was
// deduced was never asked.
export const isCounted = (call: TapeCall, covers: readonly CallKind[]): boolean =>
  !call.isAuxiliary && !call.isInferred && call.attemptOf === null && call.within === null && covers.includes(call.kind)

/**
 * The tries of a call as the wire saw them. Below an SDK's own call they are left out: that call has its own question and answer, and
 * is served as one value.
 */
function triesOf(call: TapeCall, byId: ReadonlyMap<string, TapeCall>): readonly TapeCall[] {
  const isTold = call.request.url === null
  return isTold ? [] : call.attempts.flatMap((id) => byId.get(id) ?? [])
}
