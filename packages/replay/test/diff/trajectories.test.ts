import { diffRuns, diffText, type RunDiff } from "@orangebox/replay"
import { describe, expect, test } from "vitest"
import { hasTrajectories, readTrajectories } from "./trajectories.js"

const WHY = hasTrajectories ? "" : " (skipped: ../shared/corpora/trajectories is not here)"

describe.skipIf(!hasTrajectories)(`[P-09] repeated runs of the same task${WHY}`, () => {
  test("[P-09] every pair is aligned, judged and told within its budget", () => {
    const figures: Record<string, Figures> = {}
    for (const [, attempts] of readTrajectories()) {
      for (let i = 0; i < attempts.length; i++) {
        for (let j = i + 1; j < attempts.length; j++) {
          const [first, second] = [attempts[i]!, attempts[j]!]
          const diff = diffRuns(first.run("A"), second.run("B"), { payloads: 4 })
          expect(diff.verdict).toBe("differs")
          expect(diff.items.filter(({ a }) => a !== null)).toHaveLength(diff.a.compared)
          expect(diff.items.filter(({ b }) => b !== null)).toHaveLength(diff.b.compared)
          expect(diff.root === null).toBe(diff.root_absent !== null)
          expect(diffText(diff, { budget: 600 }).length).toBeLessThan(600 * 5)
          const arm =
            first.arm.replace(/_rerun$/, "") === second.arm.replace(/_rerun$/, "") ? "same model" : "other model"
          figures[arm] ??= {
            pairs: 0,
            abstained: 0,
            resynced: 0,
            rooted: 0,
            undecided: 0,
            atFirstDecision: 0,
            toObservation: [],
            toEffect: [],
            inSync: [],
          }
          count(figures[arm], diff)
        }
      }
    }
    for (const [arm, found] of Object.entries(figures)) console.info(`repeated runs, ${arm}: ${figureWords(found)}`)
    expect(Object.keys(figures)).not.toEqual([])
  })
})

interface Figures {
  pairs: number
  abstained: number
  resynced: number
  rooted: number
  undecided: number
  /** The root is the first other decision, or what led to it. */
  atFirstDecision: number
  /** Items between the first other decision and the first other observation, and the first other write. */
  toObservation: number[]
  toEffect: number[]
  inSync: number[]
}

function count(figures: Figures, { root, root_absent, tiers, stats }: RunDiff): void {
  figures.pairs += 1
  if (root_absent === "no_common_prefix") figures.abstained += 1
  if (root_absent === "resynced") figures.resynced += 1
  if (root_absent === "undecided") figures.undecided += 1
  if (root !== null) figures.rooted += 1
  if (root !== null && tiers.T1 !== null && root <= tiers.T1) figures.atFirstDecision += 1
  if (tiers.T1 !== null && tiers.T2 !== null) figures.toObservation.push(tiers.T2 - tiers.T1)
  if (tiers.T1 !== null && tiers.T3 !== null) figures.toEffect.push(tiers.T3 - tiers.T1)
  if (stats.in_sync_share !== null) figures.inSync.push(Math.round(stats.in_sync_share * 100))
}

const median = (numbers: readonly number[]): number | undefined =>
  [...numbers].sort((x, y) => x - y)[Math.floor(numbers.length / 2)]

function figureWords(figures: Figures): string {
  const { pairs, rooted, atFirstDecision, abstained, resynced, undecided, toObservation, toEffect, inSync } = figures
  return [
    `${pairs} pairs`,
    `a root in ${rooted} (the first other decision in ${atFirstDecision})`,
    `none for lack of a common beginning ${abstained}, because the runs came together again ${resynced}, undecided ${undecided}`,
    `from the first other decision to the first other result ${median(toObservation)} items, to the first other write ${median(toEffect)}`,
    `calls in sync ${median(inSync)} %`,
  ].join("; ")
}
