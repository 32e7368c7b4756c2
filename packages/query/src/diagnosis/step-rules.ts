import type { SourceDetector, StepSelector } from "@orangebox/contract"
import { groupBy } from "../group-by.js"
import type { RunView, StepView } from "../run-view.js"

// Rules about steps that are data: what a source says of its own steps, and two of our detectors. None of it is run.

/** A step as rules see it. */
export interface StepFact {
  readonly runId: string | null
  readonly n: number
  /** What the application calls it (`queue.deliver`), else `model`, `tool` or `step`. */
  readonly kind: string
  readonly name: string | undefined
  readonly status: string
  readonly source: string | undefined
  /** Its attributes. What is said several times has several values. */
  readonly values: Readonly<Record<string, readonly string[]>>
}

/** Steps that break a rule together, the one that broke it last. */
export interface Broken {
  readonly steps: readonly StepFact[]
  /** How often, where that is what breaks it. */
  readonly times: number
}

export interface RuleReading {
  readonly broken: readonly Broken[]
  /** Steps that the rule could be held against. With none it says nothing. */
  readonly compared: number
}

/** What of these steps breaks a rule. */
export function readRule(rule: SourceDetector, facts: readonly StepFact[]): RuleReading {
  const steps = facts.filter((fact) => isSelected(fact, rule.of))
  if (rule.count !== undefined) return countRule(rule.count, steps, facts)
  if (rule.missing !== undefined) return missingRule(rule.missing, steps, facts)
  if (rule.mismatch !== undefined) return mismatchRule(rule.mismatch, steps, facts)
  return rule.threshold === undefined ? { broken: [], compared: 0 } : thresholdRule(rule.threshold, steps)
}

/** Why a rule cannot be read; undefined where it can. */
export function ruleProblem(rule: SourceDetector): string | undefined {
  const forms = [rule.count, rule.missing, rule.mismatch, rule.threshold].filter((form) => form !== undefined)
  return forms.length === 1 ? undefined : "it needs exactly one of count, missing, mismatch and threshold"
}

const isSelected = (fact: StepFact, { kind, name, status, source }: StepSelector): boolean =>
  (kind === undefined || fact.kind === kind) &&
  (name === undefined || fact.name === name) &&
  (status === undefined || fact.status === status) &&
  (source === undefined || fact.source === source)

const valueIn = ({ values }: StepFact, attribute: string): string | undefined =>
  Object.hasOwn(values, attribute) && values[attribute]!.length > 0 ? values[attribute]!.join("\0") : undefined

const isTold = <T>(value: T | undefined): value is T => value !== undefined

function countRule(
  { by, more_than: most, exceeding }: NonNullable<SourceDetector["count"]>,
  steps: readonly StepFact[],
  facts: readonly StepFact[],
): RuleReading {
  const whole = steps.filter((fact) => by.every((attribute) => valueIn(fact, attribute) !== undefined))
  const first = by[0]!
  const all = groupBy(steps, (fact) => valueIn(fact, first))
  const allowed = groupBy(
    facts.filter((fact) => exceeding !== undefined && isSelected(fact, exceeding)),
    (fact) => valueIn(fact, first),
  )
  const groups = [...groupBy(whole, (fact) => by.map((attribute) => valueIn(fact, attribute)).join("\n")).values()]
  const broken = groups.flatMap((group) => {
    const key = valueIn(group[0]!, first)
    const isAllowed = exceeding !== undefined && (allowed.get(key)?.length ?? 0) >= (all.get(key)?.length ?? 0)
    return group.length > most && !isAllowed ? [{ steps: group, times: group.length }] : []
  })
  return { broken, compared: whole.length }
}

function missingRule(
  { without, by }: NonNullable<SourceDetector["missing"]>,
  steps: readonly StepFact[],
  facts: readonly StepFact[],
): RuleReading {
  const whole = steps.filter((fact) => valueIn(fact, by) !== undefined)
  const there = new Set(facts.filter((fact) => isSelected(fact, without)).map((fact) => valueIn(fact, by)))
  const alone = whole.filter((fact) => !there.has(valueIn(fact, by)))
  return { broken: alone.map((fact) => ({ steps: [fact], times: 1 })), compared: whole.length }
}

function mismatchRule(
  { attribute, other, in: among, by }: NonNullable<SourceDetector["mismatch"]>,
  steps: readonly StepFact[],
  facts: readonly StepFact[],
): RuleReading {
  const wanted = (
    fact: StepFact,
  ): { readonly step: StepFact | undefined; readonly values: readonly string[] } | undefined => {
    if (valueIn(fact, other) !== undefined) return { step: undefined, values: fact.values[other]! }
    if (among === undefined || by === undefined || valueIn(fact, by) === undefined) return undefined
    const step = facts.find(
      (one) => isSelected(one, among) && valueIn(one, by) === valueIn(fact, by) && valueIn(one, other) !== undefined,
    )
    return step && { step, values: step.values[other]! }
  }
  const read = steps.map((fact) => {
    const right = wanted(fact)
    if (right === undefined) return undefined
    const isWrong = (fact.values[attribute] ?? []).some((value) => !right.values.includes(value))
    return { isWrong, steps: [...(right.step ? [right.step] : []), fact] }
  })
  const known = read.filter(isTold)
  return {
    broken: known.filter(({ isWrong }) => isWrong).map(({ steps: both }) => ({ steps: both, times: 1 })),
    compared: known.length,
  }
}

function thresholdRule(
  { attribute, above }: NonNullable<SourceDetector["threshold"]>,
  steps: readonly StepFact[],
): RuleReading {
  const whole = steps.filter((fact) => Number.isFinite(Number.parseFloat(valueIn(fact, attribute) ?? "")))
  const over = whole.filter((fact) => Number(valueIn(fact, attribute)) > above)
  return { broken: over.map((fact) => ({ steps: [fact], times: 1 })), compared: whole.length }
}

/** The steps of a run as rules see them. */
export const factsOf = ({ runId, steps }: RunView): readonly StepFact[] =>
  steps.map((step) => factOf(runId ?? null, step))

function factOf(runId: string | null, step: StepView): StepFact {
  const told = Object.entries(step.attributes).flatMap(([name, value]) =>
    value === null ? [] : [[name, [String(value)]] as const],
  )
  const took = step.durationUs === undefined ? [] : [["duration_ms", [String(step.durationUs / 1000)]] as const]
  return {
    ...{ runId, n: step.n, kind: step.workKind ?? step.kind, name: step.name, status: step.status },
    source: (step.opened ?? step.events[0])?.source,
    values: Object.fromEntries([...told, ...took]),
  }
}
