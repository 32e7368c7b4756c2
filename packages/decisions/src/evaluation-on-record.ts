import { type Event, numberIn, payloadOf, textIn, Verdict } from "@orangebox/contract"
import { parseJson } from "@orangebox/dialects"
import { worstVerdict } from "./checks/verdict.js"
import { DecisionEvaluation, type HumanOverride, type Violation } from "./generated.js"
import type { RunReading } from "./read-run.js"
import { bodyText } from "./recorded-run.js"

/** Nothing was judged, or nothing could be: unknown is not a pass. */
export const UNKNOWN_EVALUATION: DecisionEvaluation = Object.freeze({
  alignment: { status: "unknown", score: null, violations: [] },
  quality: { status: "unknown", checks: [] },
  policy: { status: "unknown", checks: [] },
} satisfies DecisionEvaluation)

export interface VerdictsOnRecord {
  readonly ofStep: ReadonlyMap<string, DecisionEvaluation>
  /** Of the run as a whole: the last evaluation that came to a verdict, else the last one. */
  readonly ofRun: RecordedEvaluation | undefined
  /** The last one by each evaluator and each set of rules, in the order they were said. */
  readonly allOfRun: readonly RecordedEvaluation[]
  readonly overridesOf: ReadonlyMap<string, readonly Override[]>
  readonly overridesOfRun: readonly Override[]
}
type Override = HumanOverride

/** An evaluation of a run as a whole that was kept. */
export interface RecordedEvaluation {
  readonly eventId: string
  readonly at: string
  readonly verdict: Verdict
  readonly evaluation: DecisionEvaluation
  readonly author: string | null
  readonly toolVersion: string | null
  /** By which rules; null where the judge does not say. */
  readonly rulesHash: string | null
  /** The run had not ended when it was judged. */
  readonly isOpen: boolean
}

/**
 * What was judged while the run was recorded, or later by another. The last verdict counts; an evaluation that could tell nothing takes
 * away none that was reached when there was more to see.
 */
export function verdictsOnRecord({ index, bodies }: Pick<RunReading, "index" | "bodies">): VerdictsOnRecord {
  const ofStep = new Map<string, DecisionEvaluation>()
  const overridesOf = new Map<string, Override[]>()
  const overridesOfRun: Override[] = []
  const ofRules = new Map<string, RecordedEvaluation>()
  for (const event of index.events) {
    const payload = payloadOf(event)
    const subject = textIn(payload, "subject_step_id")
    if (event.event_type === "evaluation") {
      const evaluation = evaluationIn(event, bodyText(bodies, textIn(payload, "evaluation_ref")))
      if (subject === undefined) {
        const recorded = recordedEvaluation(event, evaluation)
        const key = JSON.stringify([evaluation.evaluator, recorded.rulesHash])
        const before = ofRules.get(key)
        ofRules.delete(key)
        ofRules.set(key, before && recorded.verdict === "unknown" ? before : recorded)
      } else if (!isUnknown(evaluation) || !ofStep.has(subject)) ofStep.set(subject, evaluation)
    } else if (event.event_type === "override") {
      const override = overrideIn(event, bodyText(bodies, textIn(payload, "reason_ref")))
      if (subject === undefined) overridesOfRun.push(override)
      else overridesOf.set(subject, [...(overridesOf.get(subject) ?? []), override])
    }
  }
  const allOfRun = [...ofRules.values()]
  const ofRun = allOfRun.findLast(({ verdict }) => verdict !== "unknown") ?? allOfRun.at(-1)
  return { ofStep, ofRun, allOfRun, overridesOf, overridesOfRun }
}

/**
 * Of an evaluation made now and one on record, what stands. A verdict that was reached when the text was there does; a later look without it
 * knows less. Where all text is there, the later one is right.
 */
export function standingEvaluation(
  now: DecisionEvaluation | undefined,
  recorded: DecisionEvaluation | undefined,
  isTextMissing: boolean,
): DecisionEvaluation | undefined {
  if (now === undefined || recorded === undefined) return now ?? recorded
  if (!isTextMissing) return isUnknown(now) ? recorded : now
  const stands = <T extends { readonly status: Verdict }>(mine: T, theirs: T): T =>
    mine.status === "unknown" ||
    (theirs.status !== "unknown" && worstVerdict([mine.status, theirs.status]) !== mine.status)
      ? theirs
      : mine
  return {
    ...now,
    alignment: stands(now.alignment, recorded.alignment),
    quality: stands(now.quality, recorded.quality),
    policy: stands(now.policy, recorded.policy),
  }
}

const isUnknown = ({ alignment, quality, policy }: DecisionEvaluation): boolean =>
  [alignment, quality, policy].every(({ status }) => status === "unknown")

/** Quality and policy have nothing to say in most set-ups, so their silence does not make alignment unknown; its own does. */
export function headlineOf({ alignment, quality, policy }: Statuses): Verdict {
  const spoken = [quality.status, policy.status].filter((status) => status !== "unknown")
  return worstVerdict([alignment.status, ...spoken])
}

interface Statuses {
  readonly alignment: { readonly status: Verdict }
  readonly quality: { readonly status: Verdict }
  readonly policy: { readonly status: Verdict }
}

function recordedEvaluation(event: Event, evaluation: DecisionEvaluation): RecordedEvaluation {
  const attributes = { ...event.attributes }
  return {
    eventId: event.event_id,
    at: event.timestamp_utc,
    verdict: Verdict.safeParse(attributes["verdict"]).data ?? headlineOf(evaluation),
    evaluation,
    author: textIn(attributes, "author") ?? null,
    toolVersion: textIn(attributes, "tool_version") ?? null,
    rulesHash: textIn(attributes, "rules_hash") ?? null,
    isOpen: attributes["is_open"] === true,
  }
}

function evaluationIn(event: Event, body: string | null): DecisionEvaluation {
  const payload = payloadOf(event)
  const evaluator = textIn(payload, "evaluator") ?? null
  const detailed = DecisionEvaluation.safeParse(body === null ? undefined : parseJson(body))
  if (detailed.success) return { ...detailed.data, evaluator }
  return {
    alignment: {
      status: verdictIn(payload, "alignment"),
      score: numberIn(payload, "score") ?? null,
      violations: brokenIn(event),
    },
    quality: { status: verdictIn(payload, "quality"), checks: [] },
    policy: { status: verdictIn(payload, "policy"), checks: [] },
    evaluator,
  }
}

/** The breaches of an evaluation whose words are not kept; where not even the rules are named, that there was one. */
function brokenIn({ attributes, payload }: Event): Violation[] {
  const named = (textIn({ ...attributes }, "broken") ?? "").split(" ").flatMap((entry): Violation[] => {
    const [, severity, id] = /^(fail|warn):(.+)$/.exec(entry) ?? []
    return id === undefined
      ? []
      : [{ id, severity: severity as "fail" | "warn", message: `${id}: ${NOT_KEPT}`, evidence: null }]
  })
  if (named.length > 0) return named
  const worst = ["alignment", "quality", "policy"].map((part) => verdictIn(payloadOf({ payload }), part))
  const severity = (["fail", "warn"] as const).find((one) => worst.includes(one))
  return severity === undefined ? [] : [{ id: "unknown", severity, message: `a rule: ${NOT_KEPT}`, evidence: null }]
}

const NOT_KEPT = "broken when it was judged, and what broke it is not kept"

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
