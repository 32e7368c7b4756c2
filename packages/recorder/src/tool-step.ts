import { summarizeArgs, summarizeText } from "@orangebox/contract"
import { CANON_VERSION } from "@orangebox/dialects"
import { BodiesOfEvent } from "./bodies-of-event.js"
import { type ClassifiedCall, classified, emitEvaluation, keepWork, withActionType } from "./classify.js"
import { describeError } from "./described-error.js"
import { askGuards, BlockedCallError } from "./guard.js"
import { summaryOf } from "./lifecycle-events.js"
import type { RunState } from "./run-state.js"
import { signatureOfTool } from "./signature.js"
import type { StepOutcome, ToolCall, ToolEnd, ToolStep } from "./step.js"
import { StepHandle, type StepState } from "./step-handle.js"

/** Opens the step of a tool call: what it is asked is recorded before it runs. */
export function openToolStep(parent: StepHandle, call: ToolCall): ToolStep {
  parent.assertMayGoOn()
  const bodies = new BodiesOfEvent(parent.run.builder, "tool_called")
  const args = bodies.add("args", call.args ?? null)!
  const signature = call.signature ?? signatureOfTool(call, args)
  const step = new ToolStepHandle(parent.run, parent.newChild(), parent.source, call)
  const known = classified(step, { name: call.name, args: call.args })
  step.known = known
  step.emit(
    "tool_called",
    {
      tool_name: call.name,
      tool_version: call.version ?? null,
      call_signature_hash: signature,
      args_ref: args.hash,
      timeout_ms: call.timeoutMs ?? null,
      tool_call_id: call.callId,
      ...summaryOf("args_summary", () => summarizeArgs(args.value())),
      canon_version: CANON_VERSION,
      effect_class: call.effect,
    },
    { attributes: withActionType(call.attributes, known), links: step.followLinks(), ...bodies.extras() },
  )
  if (known?.evaluation) emitEvaluation(step, known.evaluation)
  try {
    askGuards(parent.run.guards, parent, { kind: "tool", name: call.name, args: call.args, signature, step })
  } catch (err) {
    step.endTool({ err })
    throw err
  }
  return step
}

class ToolStepHandle extends StepHandle implements ToolStep {
  readonly #call: ToolCall
  known: ClassifiedCall | undefined

  constructor(run: RunState, state: StepState, source: string, call: ToolCall) {
    super(run, state, source)
    this.#call = call
  }

  override end(outcome: StepOutcome = {}): void {
    this.endTool({
      ...(outcome.err === undefined ? {} : { err: outcome.err }),
      ...(outcome.status === undefined ? {} : { status: outcome.status }),
      ...(outcome.body === undefined ? {} : { result: outcome.body }),
    })
  }

  endTool(outcome: ToolEnd): void {
    if (!this.close()) return
    const bodies = new BodiesOfEvent(this.run.builder, "tool_result")
    const error = outcome.err === undefined ? undefined : describeError(outcome.err, this.summarize)
    const result = bodies.add("result", outcome.result)
    const status =
      outcome.status ?? (error ? (error.errorClass === "ToolTimeoutError" ? "timeout" : "error") : "success")
    keepWork(this, this.known, { result: outcome.result, status, exitCode: outcome.exitCode })
    this.emitClose(
      "tool_result",
      {
        tool_name: this.#call.name,
        status,
        result_ref: result?.hash ?? null,
        error_class: error?.errorClass ?? null,
        error_message_ref: (error && bodies.ref("error_message", error.chain)) ?? null,
        latency_ms: this.endedAfterMs(),
        tool_call_id: this.#call.callId,
        exit_code: outcome.exitCode,
        ...(result ? summaryOf("result_summary", () => summarizeText(result.text())) : {}),
        error_summary: error?.summary,
        told_model: toldModelOf(outcome.toldModel, result?.hash, bodies),
      },
      bodies,
    )
    if ((status === "error" || status === "timeout") && !(outcome.err instanceof BlockedCallError)) {
      this.faultAround({ trigger: "tool_failure", detail: `${this.#call.name}: ${error?.errorClass ?? status}` })
    }
  }
}

function toldModelOf(told: ToolEnd["toldModel"], result: string | undefined, bodies: BodiesOfEvent) {
  if (told === undefined || told === null) return undefined
  const { isError, content } = told
  const ref = content === undefined ? result : bodies.ref("told_model", content)
  return { is_error: typeof isError === "boolean" ? isError : null, ref: ref ?? null }
}
