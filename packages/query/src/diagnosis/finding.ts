import { textHash } from "@orangebox/contract"
import type { StepView } from "../run-view.js"

/** How bad: it ended the run, it did harm, it cost money or time, or it is worth knowing. */
export type Severity = "fatal" | "harm" | "waste" | "notice"

/** `proven`: recorded facts contradict a rule. `likely`: one inference away. `possible`: statistics or words. */
export type Confidence = "proven" | "likely" | "possible"

/** A recorded fact that a finding rests on: what is there can be opened with `step`. */
export interface Pointer {
  /** Null for the run that is diagnosed. */
  readonly runId: string | null
  readonly n: number
  /** A body of the step, by its role; null for the step itself. */
  readonly role: string | null
  readonly from: number | null
  readonly to: number | null
}

/** A rule that recorded facts break. */
export interface Finding {
  readonly detector: string
  /** Which form of it, where there are several. */
  readonly kind: string | null
  readonly severity: Severity
  readonly confidence: Confidence
  /** The step to open first. */
  readonly cause: number
  /** Where it showed. */
  readonly fails: number | null
  /** In our words and with ids alone: nothing that was recorded can speak here. */
  readonly claim: string
  /** Whose doing it is, as far as the record tells. */
  readonly by: string | null
  /** What a judge wrote: its words, to be shown as such. */
  readonly said?: string
  readonly evidence: readonly Pointer[]
}

/** What cannot be looked for in a run says why; that is not the same as having found nothing. */
export interface NotRun {
  readonly notRun: string
}

export type Detected = readonly Finding[] | NotRun

export const isNotRun = (detected: Detected): detected is NotRun => "notRun" in detected

export const at = (
  step: Pick<StepView, "n">,
  role: string | null = null,
  range?: readonly [number, number],
): Pointer => ({
  runId: null,
  n: step.n,
  role,
  from: range?.[0] ?? null,
  to: range?.[1] ?? null,
})

/** The same for the same facts, whenever and wherever it is computed. */
export function findingId(finding: Finding, causeEventId: string): string {
  const { detector, kind, evidence } = finding
  const facts = evidence.map(({ runId, n, role, from, to }) => [runId, n, role, from, to].join(":"))
  return textHash(["finding", detector, kind ?? "", causeEventId, ...facts].join("\0")).slice("sha256:".length, 23)
}
