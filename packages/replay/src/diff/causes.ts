import type { Cause } from "../generated.js"
import { type DiffStep, isBehaviour } from "./diff-step.js"
import { isInSync, isWrite, type Judged, mayWrite } from "./judge.js"

/**
 * The order in which two runs went apart: where a step's input differs, at its beginning; where only what came out of a container
 * differs, behind everything inside it.
 */
export function inOrderOfDivergence(items: readonly Judged[]): readonly number[] {
  const lastInside = new Map<DiffStep, number>()
  for (let index = items.length - 1; index >= 0; index--) {
    for (const step of [items[index]!.a, items[index]!.b]) {
      if (!step) continue
      const last = Math.max(index, lastInside.get(step) ?? 0)
      if (step.parent) lastInside.set(step.parent, Math.max(last, lastInside.get(step.parent) ?? 0))
    }
  }
  const orderOf = (index: number): number => {
    const { a, b, isInputSame, change } = items[index]!
    if (!a || !b || !isInputSame || change !== "changed") return index
    return Math.max(index, lastInside.get(a) ?? 0, lastInside.get(b) ?? 0) + 0.5
  }
  return items
    .flatMap((item, index) => (isDifference(item) ? [{ index, order: orderOf(index) }] : []))
    .sort((x, y) => x.order - y.order || x.index - y.index)
    .map(({ index }) => index)
}

export const isDifference = ({ change }: Pick<Judged, "change">): boolean => change !== "same" && change !== "noise"

/**
 * Why each difference is there, from hashes and order alone: something came out of equal input (`origin`, or `environment` where the world
 * answered), or an earlier difference may have fed it (`propagated`), or it went in and nothing came of it (`absorbed`). What differs
 * with nothing before it that could have fed it began here, whatever its input: the program changed, the prompt or the profile.
 * Other wording, ids and times feed other wording alone: what a model decides after them, it decided.
 *
 * The world answers differently by itself only until the runs have written differently into it; from then on a call that sees another
 * result sees what the runs did.
 */
export function labelCauses(items: readonly Judged[], order: readonly number[]): void {
  const differed = new Earliest()
  const reworded = new Earliest()
  const written = new Earliest()
  for (const index of order) {
    const item = items[index]!
    const isFed = differed.mayFeed(item) || (item.isIncidental && reworded.mayFeed(item))
    item.cause = causeOf(item, isFed, written.mayFeed(item))
    if (item.cause === "absorbed") continue
    if (!isReal(items, index)) {
      reworded.add(item)
      continue
    }
    differed.add(item)
    if (item.tiers.includes("T1") && [item.a, item.b].some((step) => isWrite(step) || mayWrite(step))) written.add(item)
  }
}

/** A difference in what was done or seen. A decision of which the same came is none. */
export function isReal(items: readonly Judged[], index: number): boolean {
  const item = items[index]!
  return isDifference(item) && !item.isIncidental && !item.isAbsorbed && !isWithoutConsequence(items, index)
}

/** Whether every call that the two answers of a model asked for did the same. */
function isWithoutConsequence(items: readonly Judged[], index: number): boolean {
  const { a, b } = items[index]!
  if (a?.kind !== "model" || !b) return false
  let calls = 0
  for (let at = index + 1; at < items.length; at++) {
    const step = (items[at]!.a ?? items[at]!.b)!
    if (step.lane !== undefined && step.lane !== a.lane && step.lane !== b.lane) continue
    if (step.kind === "model") break
    if (!isBehaviour(step)) continue
    if (!isInSync(items[at]!)) return false
    calls++
  }
  return calls > 0
}

/** When the first of some differences was over, on either side: only what opened later can have been fed by one. */
class Earliest {
  #closedA = Number.POSITIVE_INFINITY
  #closedB = Number.POSITIVE_INFINITY

  add({ a, b }: Judged): void {
    if (a) this.#closedA = Math.min(this.#closedA, a.closedAt)
    if (b) this.#closedB = Math.min(this.#closedB, b.closedAt)
  }

  mayFeed({ a, b, isInputSame }: Judged): boolean {
    if ((a?.openedAt ?? -1) > this.#closedA || (b?.openedAt ?? -1) > this.#closedB) return true
    // A container opened before the difference inside it and closed after: what came out of it was fed by it.
    if (!a || !b || !isInputSame || a.children.length + b.children.length === 0) return false
    return a.closedAt > this.#closedA || b.closedAt > this.#closedB
  }
}

function causeOf(
  { a, b, change, isInputSame, isOutputSame, isAbsorbed }: Judged,
  isFed: boolean,
  isWritten: boolean,
): Cause {
  const { kind } = (a ?? b)!
  if (kind === "run" || kind === "input" || change === "reordered") return "environment"
  const began = isFed ? "propagated" : "origin"
  if (!a || !b || (isInputSame && isOutputSame)) return began
  if (isInputSame) {
    if (kind === "retrieval") return "environment"
    if (kind === "tool") return isWritten ? "propagated" : "environment"
    return kind === "model" ? "origin" : began
  }
  return isAbsorbed ? "absorbed" : began
}
