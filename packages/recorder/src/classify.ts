import { ActionType, type Status, type Verdict } from "@orangebox/contract"
import { BodiesOfEvent } from "./bodies-of-event.js"
import type { MadeArtifact } from "./step.js"
import type { StepHandle } from "./step-handle.js"
import { workspacePath } from "./workspace-path.js"

/** A tool call whose arguments will not be kept. */
export interface CallToClassify {
  readonly name: string
  readonly args: unknown
  readonly stepId: string
  /** The same object for all calls of a run: what became of a file is the sum of them. */
  readonly run: object
}

/** Something an agent said, whose text will not be kept. */
export interface OutputToClassify {
  readonly output: string
  /** The run's last word. */
  readonly isFinal: boolean
  readonly stepId: string
}

/** How a call ended whose text will not be kept. */
export interface CallEnd {
  readonly result: unknown
  readonly status: Status
  readonly exitCode?: number | undefined
  /** It was seen in the traffic of an agent that does not record itself. */
  readonly isOnWire?: true
}

/** What of a call outlives its text. */
export interface ClassifiedCall {
  /** What kind of action it is, in the words of `ActionType`. */
  readonly actionType?: string
  /** How it was judged while there was something to see. */
  readonly evaluation?: EvaluationMade | undefined
  /** Asked when it has ended: what it made, of which figures and digests are kept. */
  readonly ended?: (end: CallEnd) => readonly MadeArtifact[]
}

export interface EvaluationMade {
  readonly evaluator: string
  readonly alignment: Verdict
  readonly quality: Verdict
  readonly policy: Verdict
  readonly score: number | null
  readonly detail?: unknown
  /** The rules that were broken, by their ids: they outlive the text that broke them. */
  readonly broken?: readonly { readonly id: string; readonly severity: "fail" | "warn" }[]
}

/**
 * Asked about every tool call and every output whose text is not kept, before it is dropped: later no reader can tell any more. The recorder does not
 * know decisions, so it is handed in: `Recorder.open({ capture: "hashed", classify: classifier(constraints) })`.
 */
export type Classify = (made: CallToClassify | OutputToClassify) => ClassifiedCall | undefined

/** Undefined where the text is kept and can be read later, by whatever is known then. A classifier that throws has said nothing. */
export function classified(
  step: StepHandle,
  made: Omit<CallToClassify, "stepId" | "run"> | Omit<OutputToClassify, "stepId">,
): ClassifiedCall | undefined {
  const { app, builder } = step.run
  if (app.classify === undefined) return undefined
  if (builder.capture.mode !== "hashed" && app.keeping.bodies === "always") return undefined
  try {
    return app.classify({ ...made, stepId: step.id, run: step.run })
  } catch {
    return undefined
  }
}

/** Keeps how an output fares by the rules. */
export function judgeOutput(step: StepHandle, output: string, isFinal: boolean): void {
  const known = classified(step, { output, isFinal })
  if (known?.evaluation) emitEvaluation(step, known.evaluation)
}

/** Keeps what a call made that is about to end. */
export function keepWork(step: StepHandle, known: ClassifiedCall | undefined, end: CallEnd): void {
  if (known?.ended === undefined) return
  try {
    for (const { path: told, ...made } of known.ended(end)) {
      const path = told === undefined ? undefined : workspacePath(step.run.app.workspace, told)
      step.artifact(path === undefined ? made : { ...made, path })
    }
  } catch {
    // Telemetry: the tool's result still reaches the application.
  }
}

/** The attributes of a call with its action type; what the application said itself stands. */
export function withActionType(attributes: unknown, made: ClassifiedCall | undefined): unknown {
  const type = ActionType.safeParse(made?.actionType).data
  if (type === undefined || (attributes !== undefined && typeof attributes !== "object")) return attributes
  return { action_type: type, ...attributes }
}

export function emitEvaluation(step: StepHandle, { detail, broken = [], ...made }: EvaluationMade): void {
  const bodies = new BodiesOfEvent(step.run.builder, "evaluation")
  const evaluation_ref = bodies.ref("evaluation", detail) ?? null
  const attributes =
    broken.length === 0
      ? {}
      : { attributes: { broken: broken.map(({ id, severity }) => `${severity}:${id}`).join(" ") } }
  step.emit("evaluation", { ...made, subject_step_id: step.id, evaluation_ref }, { ...bodies.extras(), ...attributes })
}
