import type { RunDiff } from "../generated.js"

/** What an agent did otherwise, wording aside. */
export interface BehaviourChange {
  /** Indexes of items in which something else was decided or written. */
  readonly decisions: readonly number[]
  /** In what the end differs, the words of the last answer aside. */
  readonly outcome: readonly Exclude<RunDiff["outcome"]["fields"][number], "output">[]
}

/**
 * Whether two runs decided and achieved the same. Questions and answers in other words, and what tools gave back otherwise, are no other behaviour
 * as long as nothing else was done because of them.
 */
export function behaviourChange({ items, outcome }: RunDiff): BehaviourChange {
  return {
    decisions: items.flatMap(({ tiers }, index) => (tiers.includes("T1") || tiers.includes("T3") ? [index] : [])),
    outcome: outcome.fields.filter((field) => field !== "output"),
  }
}
