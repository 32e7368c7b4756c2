import { ActionType, type Verdict } from "@orangebox/contract"
import { BodiesOfEvent } from "./bodies-of-event.js"
import type { StepHandle } from "./step-handle.js"

/** A tool call whose arguments will not be kept. */
export interface CallToClassify {
  readonly name: string
  readonly args: unknown
  readonly stepId: string
}

/** What of a call outlives its text. */
export interface ClassifiedCall {
  /** What kind of action it is, in the words of `ActionType`. */
  readonly actionType?: string
  /** How it was judged while there was something to see. */
  readonly evaluation?: EvaluationMade | undefined
}

export interface EvaluationMade {
  readonly evaluator: string
  readonly alignment: Verdict
  readonly quality: Verdict
  readonly policy: Verdict
  readonly score: number | null
  readonly detail?: unknown
}

/**
 * Asked about every tool call whose arguments are not kept, before they are dropped: later no reader can tell any more. The recorder does not
 * know decisions, so it is handed in: `Recorder.open({ capture: "hashed", classify: classifier(constraints) })`.
 */
export type Classify = (call: CallToClassify) => ClassifiedCall | undefined

/** Undefined where the text is kept and can be read later, by whatever is known then. A classifier that throws has said nothing. */
export function classified(step: StepHandle, call: Omit<CallToClassify, "stepId">): ClassifiedCall | undefined {
  const { app, builder } = step.run
  if (app.classify === undefined) return undefined
  if (builder.capture.mode !== "hashed" && app.keeping.bodies === "always") return undefined
  try {
    return app.classify({ ...call, stepId: step.id })
  } catch {
    return undefined
  }
}

/** The attributes of a call with its action type; what the application said itself stands. */
export function withActionType(attributes: unknown, made: ClassifiedCall | undefined): unknown {
  const type = ActionType.safeParse(made?.actionType).data
  if (type === undefined || (attributes !== undefined && typeof attributes !== "object")) return attributes
  return { action_type: type, ...attributes }
}

export function emitEvaluation(step: StepHandle, { detail, ...made }: EvaluationMade): void {
  const bodies = new BodiesOfEvent(step.run.builder, "evaluation")
  const evaluation_ref = bodies.ref("evaluation", detail) ?? null
  step.emit("evaluation", { ...made, subject_step_id: step.id, evaluation_ref }, bodies)
}
