import { type Event, numberIn, payloadOf, textIn, Verdict } from "@orangebox/contract"
import { parseJson } from "@orangebox/dialects"
import type { z } from "zod"
import { DecisionEvaluation, type HumanOverride } from "./decision-event.js"
import type { RunReading } from "./read-run.js"
import { bodyText } from "./recorded-run.js"

/** Nobody judged, or nobody could: unknown is not a pass. */
export const UNKNOWN_EVALUATION: DecisionEvaluation = Object.freeze({
  alignment: { status: "unknown", score: null, violations: [] },
  quality: { status: "unknown", checks: [] },
  policy: { status: "unknown", checks: [] },
} satisfies DecisionEvaluation)

export interface VerdictsOnRecord {
  readonly ofStep: ReadonlyMap<string, DecisionEvaluation>
  /** Evaluations of the run as a whole, the last one said. */
  readonly ofRun: DecisionEvaluation | undefined
  readonly overridesOf: ReadonlyMap<string, readonly Override[]>
  readonly overridesOfRun: readonly Override[]
}
type Override = z.infer<typeof HumanOverride>

/** What was judged while the run was recorded, or later by somebody else; the last word about a step counts. */
export function verdictsOnRecord({ index, bodies }: Pick<RunReading, "index" | "bodies">): VerdictsOnRecord {
  const ofStep = new Map<string, DecisionEvaluation>()
  const overridesOf = new Map<string, Override[]>()
  const overridesOfRun: Override[] = []
  let ofRun: DecisionEvaluation | undefined
  for (const event of index.events) {
    const payload = payloadOf(event)
    const subject = textIn(payload, "subject_step_id")
    if (event.event_type === "evaluation") {
      const evaluation = evaluationIn(event, bodyText(bodies, textIn(payload, "evaluation_ref")))
      if (subject === undefined) ofRun = evaluation
      else ofStep.set(subject, evaluation)
    } else if (event.event_type === "override") {
      const override = overrideIn(event, bodyText(bodies, textIn(payload, "reason_ref")))
      if (subject === undefined) overridesOfRun.push(override)
      else overridesOf.set(subject, [...(overridesOf.get(subject) ?? []), override])
    }
  }
  return { ofStep, ofRun, overridesOf, overridesOfRun }
}

function evaluationIn(event: Event, body: string | null): DecisionEvaluation {
  const payload = payloadOf(event)
  const evaluator = textIn(payload, "evaluator") ?? null
  const detailed = DecisionEvaluation.safeParse(body === null ? undefined : parseJson(body))
  if (detailed.success) return { ...detailed.data, evaluator }
  return {
    alignment: { status: verdictIn(payload, "alignment"), score: numberIn(payload, "score") ?? null, violations: [] },
    quality: { status: verdictIn(payload, "quality"), checks: [] },
    policy: { status: verdictIn(payload, "policy"), checks: [] },
    evaluator,
  }
}

function overrideIn(event: Event, reason: string | null): Override {
  const payload = payloadOf(event)
  return {
    event_id: event.event_id,
    author: textIn(payload, "author") ?? "unknown",
    verdict: verdictIn(payload, "verdict"),
    reason: reason ?? textIn(payload, "reason") ?? "",
    timestamp: event.timestamp_utc,
  }
}

function verdictIn(payload: ReturnType<typeof payloadOf>, name: string): Verdict {
  const verdict = Verdict.safeParse(payload[name])
  return verdict.success ? verdict.data : "unknown"
}
