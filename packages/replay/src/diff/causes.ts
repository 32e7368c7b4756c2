import type { DiffStep } from "./diff-step.js"
import type { Judged } from "./judge.js"
import type { Cause } from "./run-diff.js"

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
 * with nothing before it that could have fed it began here, whatever its input: somebody changed the program, the prompt or the profile.
 */
export function labelCauses(items: readonly Judged[], order: readonly number[]): void {
  const firstClosed = { a: Number.POSITIVE_INFINITY, b: Number.POSITIVE_INFINITY }
  for (const index of order) {
    const item = items[index]!
    const isFed = (item.a?.openedAt ?? -1) > firstClosed.a || (item.b?.openedAt ?? -1) > firstClosed.b
    item.cause = causeOf(item, isFed || isInsideChanged(item, firstClosed))
    if (item.cause === "absorbed") continue
    if (item.a) firstClosed.a = Math.min(firstClosed.a, item.a.closedAt)
    if (item.b) firstClosed.b = Math.min(firstClosed.b, item.b.closedAt)
  }
}

/** A container opened before the difference inside it and closed after: what came out of it was fed by it. */
function isInsideChanged({ a, b, isInputSame }: Judged, firstClosed: { a: number; b: number }): boolean {
  if (!a || !b || !isInputSame || a.children.length + b.children.length === 0) return false
  return a.closedAt > firstClosed.a || b.closedAt > firstClosed.b
}

function causeOf({ a, b, change, isInputSame, isOutputSame }: Judged, isFed: boolean): Cause {
  const { kind } = (a ?? b)!
  if (kind === "run" || kind === "input" || change === "reordered") return "environment"
  if (!a || !b) return isFed ? "propagated" : "origin"
  if (isInputSame && isOutputSame) return isFed ? "propagated" : "origin"
  if (isInputSame) {
    if (kind === "tool" || kind === "retrieval") return "environment"
    if (kind === "model") return "origin"
    return isFed ? "propagated" : "origin"
  }
  if (isOutputSame) return "absorbed"
  return isFed ? "propagated" : "origin"
}
