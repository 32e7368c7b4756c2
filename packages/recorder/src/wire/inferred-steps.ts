import { type Status, summarizeArgs } from "@orangebox/contract"
import { CANON_VERSION, toolSignatureOfText } from "@orangebox/dialects"
import { BodiesOfEvent } from "../bodies-of-event.js"
import { classified, emitEvaluation, keepWork, withActionType } from "../classify.js"
import { cutAtWord } from "../cut-at-word.js"
import { summaryOf } from "../lifecycle-events.js"
import type { LogAttributes } from "../logger.js"
import type { Run } from "../run.js"
import type { Step } from "../step.js"
import { StepHandle } from "../step-handle.js"
import { markedChild, type StepMarks } from "./marked-step.js"

/**
 * What an observer of model traffic deduces: turns, sub-agents, tool calls. They become ordinary steps, so that every reader works the same on
 * them, and all their events name who deduced them.
 */
export interface InferredStep extends Required<Pick<StepMarks, "inferredBy">> {
  readonly laneId?: string
  readonly name: string
  readonly kind: string
  readonly attributes?: LogAttributes
  readonly follows?: readonly string[]
}

export function openInferredStep(parent: Step, made: InferredStep): Step {
  if (!(parent instanceof StepHandle)) return parent
  const step = markedChild(parent, made)
  // What an observer calls a turn is what the user said in it, so it is content before it is a name.
  const name = step.summarize(made.name).slice(0, LONGEST_NAME) || made.kind
  step.emit("step_started", { name, kind: made.kind }, { attributes: made.attributes, links: linksOf(made) })
  return step
}

/** A model call failed for good: where faults are looked for, that is one of the step it was made for. */
export function faultOfCall(step: Step, failure: string): void {
  if (step instanceof StepHandle && step.run.detectsFaults) step.fault({ trigger: "system_error", detail: failure })
}

/** A step whose last call failed has failed with it. */
export function failInferredStep(step: Step, failure: string): void {
  faultOfCall(step, failure)
  step.end({ err: new ModelCallFailed(failure) })
}

class ModelCallFailed extends Error {
  override readonly name = "ModelCallFailed"
  // Where this error is made says nothing about where the call failed.
  override readonly stack = ""
}

export interface InferredTool extends Required<Pick<StepMarks, "inferredBy">> {
  readonly laneId?: string
  readonly name: string
  readonly callId: string | null
  /** As the model wrote them. */
  readonly argumentText: string
  readonly attributes?: LogAttributes
  readonly follows?: readonly string[]
}

export interface InferredToolStep {
  readonly step: Step
  /** @param isError whether the model was told that it failed; null where it was told nothing of the kind */
  end(result: { readonly text: string | null; readonly status: Status; readonly isError?: boolean | null }): void
}

export function openInferredTool(parent: Step, made: InferredTool): InferredToolStep {
  if (!(parent instanceof StepHandle)) return { step: parent, end: () => {} }
  const step = markedChild(parent, made)
  const opening = new BodiesOfEvent(step.run.builder, "tool_called")
  const args = opening.addAs("args", made.argumentText, "application/json")
  const tool_call_id = cutAtWord(made.callId ?? "", 512) || undefined
  const tool_name = cutAtWord(made.name, 512) || "?"
  const known = classified(step, { name: made.name, args: made.argumentText })
  step.emit(
    "tool_called",
    {
      tool_name,
      tool_version: null,
      call_signature_hash: toolSignatureOfText(made.name, textOf(args.comparable())),
      args_ref: args.hash,
      timeout_ms: null,
      tool_call_id,
      ...summaryOf("args_summary", () => summarizeArgs(parsed(args.value()))),
      canon_version: CANON_VERSION,
    },
    { attributes: withActionType(made.attributes, known), links: linksOf(made), ...opening.extras() },
  )
  if (known?.evaluation) emitEvaluation(step, known.evaluation)
  return {
    step,
    end({ text, status, isError: toldError = null }) {
      const closing = new BodiesOfEvent(step.run.builder, "tool_result")
      const result_ref = text === null ? null : closing.refAs("result", text, "text/plain; charset=utf-8")
      const isError = status === "error" || status === "timeout"
      keepWork(step, known, { result: text, status, isOnWire: true })
      step.closeWith(
        "tool_result",
        {
          tool_name,
          status,
          result_ref,
          error_class: isError ? "ToolError" : null,
          error_message_ref: isError ? result_ref : null,
          latency_ms: step.endedAfterMs(),
          tool_call_id,
          told_model: { is_error: toldError, ref: result_ref },
          ...(text === null ? {} : summaryOf("result_summary", () => step.summarize(text))),
          ...(isError && text !== null ? summaryOf("error_summary", () => step.summarize(text)) : {}),
        },
        closing,
      )
      if (isError) step.faultAround({ trigger: "tool_failure", detail: `${tool_name}: ${status}` })
    },
  }
}

/** The conversation of a run that began before anybody knew it: on every step opened from now on. The first to be named stays. */
export function joinConversation(run: Run, id: string): void {
  if (!(run instanceof StepHandle)) return
  const state = run.run
  if (state.conversationId === undefined) state.joinConversation(id)
}

/** A run whose end was not recorded: its traffic stopped. */
export function completeInferred(run: Run, inferredBy: string, attributes?: LogAttributes): void {
  if (!(run instanceof StepHandle)) return
  const state = run.run
  if (state.endedBy !== undefined) return
  run.keepSample()
  const ended = { status: "success", total_steps: state.stepCount, total_latency_ms: run.endedAfterMs() } as const
  run.closeWith("run_completed", ended, { inferredBy, attributes })
  state.end("run_completed")
}

const linksOf = ({ follows }: { readonly follows?: readonly string[] }) =>
  follows?.map((step_id) => ({ kind: "follows" as const, step_id }))

const LONGEST_NAME = 120

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8")

function parsed(argumentText: unknown): unknown {
  if (typeof argumentText !== "string") return argumentText
  try {
    return JSON.parse(argumentText)
  } catch {
    return argumentText
  }
}
