import { addToList } from "../add-to-list.js"
import type { CallKind, Tape, TapeCall } from "../tape/tape.js"
import { Branches } from "./branches.js"
import type { NotCompared } from "./compared-fields.js"
import { isCounted, mayChangeSomething } from "./fingerprint.js"

export interface ComparedOrder {
  readonly differences: readonly string[]
  readonly unknown: readonly NotCompared[]
}

/**
 * What was done in another order. Calls that were not under way together in the recording, nor in branches that were, come in the same order
 * again; where one waited for another, that one is over again before it begins.
 */
export function compareOrder(source: Tape, replay: Tape, covers: readonly CallKind[]): ComparedOrder {
  const runs = new Map<string, CallPair[]>()
  // Runs of sub-agents have clocks of their own: between two of them there is no order to keep.
  for (const pair of pairsOf(source, replay, covers)) addToList(runs, pair.was.runId, pair)
  const branches = new Branches(source)
  const differences = [...runs.values()].flatMap((pairs) => [
    ...(mayBeTurnedRound(pairs) ? turnedRound(pairs, branches) : []),
    ...answeredInAnotherOrder(pairs),
    ...unsureAnswers(pairs),
  ])
  return { differences, unknown: [...runs.values()].some((pairs) => pairs.length > 1) ? [WAITING] : [] }
}

const WAITING: NotCompared = {
  what: "which calls wait for the answers of others",
  why: "answers come at once: only calls that are seen under way together, and were not, tell of it",
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

/** Whether there can be two calls in another order at all: in one pass, for that is so in almost no replay. */
function mayBeTurnedRound(pairs: readonly CallPair[]): boolean {
  let latest = Number.NEGATIVE_INFINITY
  let until = Number.NEGATIVE_INFINITY
  for (const { was, is } of pairs) {
    if (end(was) < latest || is.openedAt <= until) return true
    latest = Math.max(latest, was.openedAt)
    until = Math.max(until, end(is))
  }
  return false
}

function turnedRound(pairs: readonly CallPair[], branches: Branches): string[] {
  const restBefore = restsBefore(pairs)
  for (const [index, later] of pairs.entries()) {
    for (const earlier of pairs.slice(0, index)) {
      const [first, second] = [earlier.was, later.was]
      const isBefore = end(second) < first.openedAt && !branches.areConcurrent(first, second)
      // Of questions that are sent at once a quick server answers the first before the last has come: only where nothing was under way
      // between two of them did the second wait. Of two effects it did where they did not overlap.
      const isBehind = end(first) < (areEffects(first, second) ? second.openedAt : restBefore.get(second)!)
      const isNowTogether = isBehind && later.is.openedAt <= end(earlier.is) && !branches.mayOverlap(first, second)
      if (!isBefore && !isNowTogether) continue
      return [
        isBefore
          ? `${words(second)} was asked before ${words(first)}, and is now asked after it`
          : `${words(second)} was asked when ${words(first)} was over, and is now asked while it is under way`,
      ]
    }
  }
  return []
}

const areEffects = (a: TapeCall, b: TapeCall): boolean => mayChangeSomething(a) && mayChangeSomething(b)

/** For each recorded call when the calls began that it was under way with, directly or over others. */
function restsBefore(pairs: readonly CallPair[]): ReadonlyMap<TapeCall, number> {
  const found = new Map<TapeCall, number>()
  let [began, until] = [0, Number.NEGATIVE_INFINITY]
  for (const { was } of pairs.toSorted((a, b) => a.was.openedAt - b.was.openedAt)) {
    if (was.openedAt > until) began = was.openedAt
    until = Math.max(until, end(was))
    found.set(was, began)
  }
  return found
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
      pair.was.openedAt < (latest.was.toldAt ?? end(latest.was)) &&
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
