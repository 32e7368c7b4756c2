// What to look at first in a run, one list from all that knows of trouble: the diagnosis, the rules, failed steps, what was paid twice.

export interface Finding {
  readonly finding_id: string
  readonly severity: string
  readonly confidence: string
  readonly detector: string
  readonly kind: string | null
  readonly claim: string
  readonly cause_step: number | null
  readonly fails_step: number | null
  readonly evidence: readonly {
    readonly run_id: string | null
    readonly step_no: number | null
    readonly role: string | null
    readonly from: number | null
  }[]
}

export interface Violation {
  readonly severity: string
  readonly message: string
  readonly rule: string | null
  readonly steps: readonly { readonly step_no: number }[]
}

export interface Trouble {
  readonly n: number
  readonly words: string
}

export interface PaidAgain {
  readonly calls: readonly number[]
  readonly says: string
}

export interface LookHere {
  readonly severity: "fatal" | "harm" | "waste" | "notice"
  readonly step: number | null
  readonly toStep: number | null
  readonly words: string
}

/** The most failed steps that are named one by one; the tree has them all. */
const MOST_FAILED = 4

export function lookHere(
  findings: readonly Finding[],
  violations: readonly Violation[],
  failed: readonly Trouble[],
  again: PaidAgain | null,
): LookHere[] {
  const list: LookHere[] = []
  for (const finding of findings) {
    const step = finding.cause_step ?? finding.fails_step
    list.push({ severity: severityOf(finding.severity), step, toStep: null, words: findingWords(finding, violations) })
  }
  const named = new Set(list.map(({ step }) => step))
  for (const { severity, message, steps } of violations) {
    const step = steps[0]?.step_no ?? null
    if (severity === "fail" && !named.has(step)) list.push({ severity: "harm", step, toStep: null, words: message })
  }
  const evident = new Set([...named, ...findings.flatMap(({ fails_step }) => fails_step ?? [])])
  const failures = failed.filter(({ n }) => !evident.has(n))
  for (const { n, words } of failures.slice(0, MOST_FAILED))
    list.push({ severity: "harm", step: n, toStep: null, words })
  if (failures.length > MOST_FAILED)
    list.push({
      severity: "notice",
      step: failures[MOST_FAILED]!.n,
      toStep: null,
      words: `and ${failures.length - MOST_FAILED} more failed steps`,
    })
  const isTold = findings.some(({ detector }) => detector.startsWith("cache"))
  if (again && !isTold)
    list.push({
      severity: "waste",
      step: again.calls[0] ?? null,
      toStep: again.calls.at(-1) ?? null,
      words: again.says,
    })
  const order = ["fatal", "harm", "waste", "notice"]
  return list
    .map((one, at) => ({ one, at }))
    .sort((a, b) => order.indexOf(a.one.severity) - order.indexOf(b.one.severity) || a.at - b.at)
    .map(({ one }) => one)
}

/** What a finding says. The diagnosis names the kind of a broken rule; what was broken is what the rule itself says. */
export function findingWords(
  { detector, claim, cause_step, fails_step }: Finding,
  violations: readonly Violation[],
): string {
  if (detector !== "constraint_violation") return claim
  const step = cause_step ?? fails_step
  return violations.find(({ steps }) => steps.some(({ step_no }) => step_no === step))?.message ?? claim
}

const severityOf = (word: string): LookHere["severity"] =>
  word === "fatal" || word === "harm" || word === "waste" ? word : "notice"
