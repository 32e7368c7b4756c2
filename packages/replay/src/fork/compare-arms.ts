/** Whether a change made a difference, as far as so many samples can tell. */
export interface ArmVerdict {
  readonly verdict: "effect" | "no_effect" | "inconclusive"
  /** Chance of a difference at least this large if the change did nothing; null when nothing was compared. */
  readonly p: number | null
  readonly reason: string
}

const ENOUGH = 5
const SIGNIFICANT = 0.05
/** With fewer samples "no difference" would only mean "not looked". */
const ENOUGH_FOR_NONE = 20

/** What a sample came to, aspect by aspect: how it ended, what it did, what it left behind. Null where that is not known. */
export type ForkOutcome = Readonly<Record<string, string | null>>

/** One aspect by itself. */
export interface AspectVerdict extends ArmVerdict {
  readonly aspect: string
}

export interface OutcomeVerdict extends ArmVerdict {
  readonly aspects: readonly AspectVerdict[]
}

/**
 * Compares the arms of a fork in everything that is known of all their samples. A look at several things finds one that differs by
 * chance more often, so the chance of each counts as often as there are aspects (Bonferroni).
 */
export function compareOutcomes(control: readonly ForkOutcome[], changed: readonly ForkOutcome[]): OutcomeVerdict {
  const all = [...control, ...changed]
  const names = Object.keys(all[0] ?? {}).filter((name) => all.every((outcome) => outcome[name] != null))
  const labels = (arm: readonly ForkOutcome[], name: string): string[] => arm.map((outcome) => outcome[name] ?? "")
  const aspects = names.map((aspect): AspectVerdict => {
    const alone = compareArms(labels(control, aspect), labels(changed, aspect))
    const p = alone.p === null ? null : Math.min(1, alone.p * names.length)
    const isChance = alone.verdict === "effect" && (p ?? 1) >= SIGNIFICANT
    if (!isChance) return { aspect, ...alone, p }
    return { aspect, verdict: "inconclusive", p, reason: `${alone.reason}; that may be chance` }
  })
  const [strongest] = aspects.toSorted((a, b) => (a.p ?? 2) - (b.p ?? 2))
  if (strongest === undefined) return { ...inconclusive("there is nothing to compare with"), aspects }
  const isNone = aspects.every(({ verdict }) => verdict === "no_effect")
  return {
    verdict: strongest.verdict === "effect" ? "effect" : isNone ? "no_effect" : "inconclusive",
    p: strongest.p,
    reason: `${strongest.aspect}: ${strongest.reason}`,
    aspects,
  }
}

/**
 * Compares a fork with its control: the same fork with nothing changed, because a live tail samples anew even then. Outcomes are labels such
 * as "passed" or the hash of an output; the question is whether the control's most frequent one is as frequent with the change.
 */
export function compareArms(control: readonly string[], changed: readonly string[]): ArmVerdict {
  if (control.length === 0 || changed.length === 0) return inconclusive("there is nothing to compare with")
  const usual = mostFrequent(control)
  const controlHits = control.filter((outcome) => outcome === usual).length
  const changedHits = changed.filter((outcome) => outcome === usual).length
  const p = fisher(controlHits, control.length - controlHits, changedHits, changed.length - changedHits)
  if (control.length > 1 && controlHits === 1) {
    return inconclusive(`no two of ${control.length} samples without the change agree, so nothing can differ from them`)
  }
  const counts = `${controlHits} of ${control.length} without the change, ${changedHits} of ${changed.length} with it`
  if (control.length < ENOUGH || changed.length < ENOUGH) {
    return { ...inconclusive(`${counts}; at least ${ENOUGH} samples of each are needed for a claim`), p }
  }
  if (p < SIGNIFICANT) return { verdict: "effect", p, reason: counts }
  if (Math.min(control.length, changed.length) >= ENOUGH_FOR_NONE) return { verdict: "no_effect", p, reason: counts }
  return { verdict: "inconclusive", p, reason: `${counts}; that may be chance` }
}

const inconclusive = (reason: string): ArmVerdict => ({ verdict: "inconclusive", p: null, reason })

function mostFrequent(outcomes: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const outcome of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  return [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))[0]![0]
}

/** Fisher's exact test, two-sided: right for the handful of samples a fork costs, where a chi-square would not be. */
function fisher(a: number, b: number, c: number, d: number): number {
  const [row, column, all] = [a + b, a + c, a + b + c + d]
  const chance = (x: number): number =>
    Math.exp(logChoose(row, x) + logChoose(all - row, column - x) - logChoose(all, column))
  const observed = chance(a)
  let p = 0
  for (let x = Math.max(0, column - (all - row)); x <= Math.min(row, column); x++) {
    const each = chance(x)
    if (each <= observed * (1 + 1e-9)) p += each
  }
  return Math.min(1, p)
}

function logChoose(n: number, k: number): number {
  let sum = 0
  for (let i = 1; i <= k; i++) sum += Math.log(n - k + i) - Math.log(i)
  return sum
}
