import { addToList } from "../add-to-list.js"
import type { CallKind, Tape, TapeCall } from "../tape/tape.js"
import { isCounted, mayChangeSomething } from "./fingerprint.js"

/**
 * What was done in another order. Calls that did not overlap in the recording come in the same order again; of two that change something
 * the first is over before the second begins, as it was.
 */
export function orderProblems(source: Tape, replay: Tape, covers: readonly CallKind[]): readonly string[] {
  const runs = new Map<string, CallPair[]>()
  // Runs of sub-agents have clocks of their own: between two of them there is no order to keep.
  for (const pair of pairsOf(source, replay, covers)) addToList(runs, pair.was.runId, pair)
  return [...runs.values()].flatMap((pairs) => [
    ...turnedRound(pairs),
    ...answeredInAnotherOrder(pairs),
    ...unsureAnswers(pairs),
  ])
}

interface CallPair {
  readonly was: TapeCall
  readonly is: TapeCall
}

/** In the order in which the replay asked. */
function pairsOf(source: Tape, replay: Tape, covers: readonly CallKind[]): readonly CallPair[] {
  const originals = new Map(source.calls.map((call) => [call.stepId, call]))
  return replay.calls.flatMap((is) => {
    // The tries of a call have no place of their own; a call that was tried stands for its recorded call by its first try.
    const named = is.replayed && originals.get(is.replayed.sourceStepId)
    const was = named?.attemptOf ? (originals.get(named.attemptOf) ?? named) : named
    return was && isCounted(is, covers) && isCounted(was, covers) ? [{ was, is }] : []
  })
}

const end = ({ closedAt }: TapeCall): number => closedAt ?? Number.POSITIVE_INFINITY
const overlap = (a: TapeCall, b: TapeCall): boolean => a.openedAt <= end(b) && b.openedAt <= end(a)

function turnedRound(pairs: readonly CallPair[]): string[] {
  let latest: CallPair | undefined
  let latestWrite: CallPair | undefined
  for (const pair of pairs) {
    const { was, is } = pair
    if (latest && end(was) < latest.was.openedAt)
      return [`${words(was)} was asked before ${words(latest.was)}, and is now asked after it`]
    if (latest === undefined || was.openedAt > latest.was.openedAt) latest = pair
    if (!mayChangeSomething(was)) continue
    if (latestWrite && end(latestWrite.was) < was.openedAt && is.openedAt <= end(latestWrite.is))
      return [`${words(was)} was asked when ${words(latestWrite.was)} was over, and is now asked while it is under way`]
    if (latestWrite === undefined || end(is) > end(latestWrite.is)) latestWrite = pair
  }
  return []
}

/** Where the first answer wins, the order of the answers to calls that were under way together is part of what happened. */
function answeredInAnotherOrder(pairs: readonly CallPair[]): string[] {
  const closed = pairs.filter(({ was, is }) => was.closedAt !== null && is.closedAt !== null)
  const now = [...closed].sort((a, b) => a.is.closedAt! - b.is.closedAt!)
  let latest: CallPair | undefined
  for (const pair of now) {
    if (
      latest &&
      pair.was.closedAt! < latest.was.closedAt! &&
      overlap(pair.was, latest.was) &&
      overlap(pair.is, latest.is)
    )
      return [`${words(pair.was)} was answered before ${words(latest.was)}, and is now answered after it`]
    if (latest === undefined || pair.was.closedAt! > latest.was.closedAt!) latest = pair
  }
  return []
}

/**
 * Equal questions that were under way together and were answered differently: who of the agent's own asked which, nothing in the traffic
 * says, so whether each got the answer it had cannot be told.
 */
function unsureAnswers(pairs: readonly CallPair[]): string[] {
  const byQuestion = new Map<string, CallPair[]>()
  for (const pair of pairs) addToList(byQuestion, questionOf(pair.is), pair)
  for (const same of byQuestion.values()) {
    for (const [index, a] of same.entries()) {
      for (const b of same.slice(index + 1)) {
        const areTogether = overlap(a.was, b.was) || overlap(a.is, b.is)
        if (areTogether && answerOf(a.was) !== answerOf(b.was))
          return [
            `${words(a.was)} and ${words(b.was)} ask the same at the same time and were answered differently: nothing tells which of them is which`,
          ]
      }
    }
  }
  return []
}

/** Everything that tells one question from another: its text, its bytes, and where in the agent's code it is asked. */
const questionOf = ({ kind, sig, wire, place }: TapeCall): string => JSON.stringify([kind, sig, wire, place])

const answerOf = ({ answer }: TapeCall): string =>
  JSON.stringify([answer?.status, answer?.httpStatus, answer?.body?.hash, answer?.error?.message])

const words = ({ kind, name, stepId }: TapeCall): string => `${kind} ${name} (${stepId})`
