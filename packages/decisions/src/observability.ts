import { asRecord, type Event, payloadOf, textIn } from "@orangebox/contract"
import { injectionWords, missingWords, parseJson, promptAccountIn } from "@orangebox/dialects"
import { hasEnded, isOpen } from "@orangebox/runs"
import type { Action } from "./action.js"
import { type BypassFinding, bypassesOf } from "./bypass.js"
import { type ReadOptions, type RunReading, readRun } from "./read-run.js"
import { bodyText, type RecordedRun } from "./recorded-run.js"
import { type CallPrompt, sentPrompts } from "./sent-prompts.js"

/** The six of seed 002 §10, each of which means that the trail has a hole. */
export type ObservabilityFailure =
  | "model_call_without_prompt"
  | "action_without_correlation"
  | "missing_capture_mode"
  | "missing_evaluation"
  | "unrecorded_transformation"
  | "tool_call_without_result"

export interface ObservabilityFinding {
  readonly failure: ObservabilityFailure
  readonly stepId: string | null
  /** The `#n` people address the step by; null when there is no step. */
  readonly stepNo: number | null
  readonly detail: string
}

export interface Observability {
  readonly failures: readonly ObservabilityFinding[]
  readonly bypasses: readonly BypassFinding[]
  /** Model calls whose request is not kept: whether anything went past the recorder there cannot be told. */
  readonly unreadCalls: number
  /** Tools still running in a run that has not ended: no failure yet. */
  readonly pendingTools: number
}

/** Where the trail of a run has holes, and what went past the recorder. */
export function observabilityOf(run: RecordedRun, options: ReadOptions = {}): Observability {
  return observabilityOfReading(readRun(run, options))
}

export function observabilityOfReading(reading: RunReading): Observability {
  const prompts = sentPrompts(reading)
  const tools = unansweredTools(reading, prompts)
  return {
    failures: [
      ...promptFailures(reading, prompts),
      ...uncorrelated(reading),
      ...missingEvaluations(reading),
      ...tools.failures,
    ].sort((a, b) => (a.stepNo ?? 0) - (b.stepNo ?? 0)),
    bypasses: bypassesOf(reading, prompts),
    unreadCalls: [...prompts.values()].filter(({ prompt }) => prompt.from !== "request").length,
    pendingTools: tools.pending,
  }
}

function promptFailures(reading: RunReading, prompts: ReadonlyMap<string, CallPrompt>): ObservabilityFinding[] {
  const found: ObservabilityFinding[] = []
  for (const { call, prompt, unrecorded } of prompts.values()) {
    const at = { stepId: call.step.id, stepNo: call.step.no }
    if (prompt.from === "none") {
      const detail =
        call.requestRef === null
          ? "no request is on record"
          : "the request is a hash without a list of what it was made of"
      found.push({ failure: "model_call_without_prompt", ...at, detail })
    }
    const capture = textIn(payloadOf(call.sent.opened), "capture_mode") ?? reading.run.capture
    if (capture === null) {
      found.push({ failure: "missing_capture_mode", ...at, detail: "neither the call nor its run says what was kept" })
    }
    const injected = injectionOf(call)
    if (injected !== undefined)
      found.push({ failure: "unrecorded_transformation", ...at, detail: `context_injected: ${injected}` })
    const missing = missingOf(call)
    if (missing !== undefined)
      found.push({ failure: "unrecorded_transformation", ...at, detail: `context_incomplete: ${missing}` })
    if (unrecorded !== null) found.push({ failure: "unrecorded_transformation", ...at, detail: unrecorded })
  }
  return found
}

/** The request holds more, or other, context than was compiled for it. */
function injectionOf(call: CallPrompt["call"]): string | undefined {
  const account = accountOf(call)
  return account && injectionWords(account)
}

/** It lacks what was told of it. */
function missingOf(call: CallPrompt["call"]): string | undefined {
  const account = accountOf(call)
  return account && missingWords(account)
}

const accountOf = ({ sent, step }: CallPrompt["call"]) =>
  promptAccountIn(payloadOf(sent.opened)) ?? promptAccountIn(payloadOf(step.opened))

function uncorrelated({ index, run }: RunReading): ObservabilityFinding[] {
  const found: ObservabilityFinding[] = []
  for (const action of run.actions) {
    const step = index.stepOf(action.stepId)
    const detail = correlationGap(action, step?.opened ?? step?.closed, index)
    if (detail !== undefined) {
      found.push({
        failure: "action_without_correlation",
        stepId: action.stepId || null,
        stepNo: action.stepNo || null,
        detail,
      })
    }
  }
  return found
}

function correlationGap(
  action: Action,
  event: Event | null | undefined,
  { facts: { traceId }, stepOf }: RunReading["index"],
): string | undefined {
  if (traceId === null) return "its run has no trace id"
  if (action.stepId === "") return "it names no step"
  if (event && event.trace_id !== traceId) return `it names another trace (${event.trace_id ?? "none"})`
  if (event && event.event_id === undefined) return "its event has no id"
  const parent = action.parentStepId
  if (parent !== null && !stepOf(parent)?.events.length) return `its parent step ${parent} is not in the run`
  return undefined
}

/** Decisions made here always carry an evaluation. One that an application recorded whole may not. */
function missingEvaluations({ index, bodies }: RunReading): ObservabilityFinding[] {
  const found: ObservabilityFinding[] = []
  for (const event of index.events) {
    if (event.event_type !== "decision") continue
    const body = bodyText(bodies, textIn(payloadOf(event), "decision_ref"))
    const decision = body === null ? undefined : asRecord(parseJson(body))
    const isDecisionEvent = decision !== undefined && ("agent_action" in decision || "prompt_provenance" in decision)
    if (!isDecisionEvent || asRecord(decision["evaluation"]) !== undefined) continue
    found.push({
      failure: "missing_evaluation",
      stepId: event.step_id,
      stepNo: event.step_id === null ? null : (index.stepOf(event.step_id)?.no ?? null),
      detail: "a recorded DecisionEvent has no evaluation",
    })
  }
  return found
}

function unansweredTools(
  { index, run, calls }: RunReading,
  prompts: ReadonlyMap<string, CallPrompt>,
): { failures: ObservabilityFinding[]; pending: number } {
  const failures: ObservabilityFinding[] = []
  let pending = 0
  const lastCallNo = calls.at(-1)?.step.no ?? 0
  const recordedIds = new Set<string>()
  const withoutId = new Map<string, number>()
  const ofCall = new Map<string, number>()
  for (const { tool, stepId, stepNo, modelStepId } of run.actions) {
    if (tool === null) continue
    increase(ofCall, `${modelStepId}\0${tool.name}`, 1)
    if (tool.callId !== null) recordedIds.add(tool.callId)
    else increase(withoutId, `${modelStepId}\0${tool.name}`, 1)
    if (!isOpen(tool.status)) continue
    // That its process died under it is on record, and is how it ended.
    if (tool.status === "crashed") continue
    // A tool may still be at work at the end of a run that goes on; once the model is asked again, nothing more comes.
    if (!hasEnded(index.status) && stepNo > lastCallNo) pending++
    else failures.push({ failure: "tool_call_without_result", stepId, stepNo, detail: `${tool.name} never ended` })
  }
  const answeredIds = answeredIn(prompts)
  for (const call of calls) {
    const isLast = call.step.no === lastCallNo
    for (const { id, name, runsAt } of call.answer.toolCalls) {
      if (runsAt === "provider" || call.sideCall !== null) continue
      if (id !== null && (recordedIds.has(id) || answeredIds.has(id))) continue
      const key = `${call.step.id}\0${name}`
      // Where only the names of what was asked for are kept, a tool that followed is the one, whatever its id.
      const left = id === null ? ofCall : withoutId
      if ((left.get(key) ?? 0) > 0) {
        increase(left, key, -1)
        continue
      }
      if (!hasEnded(index.status) && isLast) pending++
      else {
        const detail = `the model asked for ${name} and no result is on record`
        failures.push({ failure: "tool_call_without_result", stepId: call.step.id, stepNo: call.step.no, detail })
      }
    }
  }
  return { failures, pending }
}

function answeredIn(prompts: ReadonlyMap<string, CallPrompt>): Set<string> {
  const ids = new Set<string>()
  const seen = new Set<object>()
  for (const { prompt } of prompts.values()) {
    for (let at = prompt.messages.length - 1; at >= 0; at--) {
      const message = prompt.messages[at]!
      // Requests share the messages they begin with; behind the first known one there is nothing new.
      if (seen.has(message)) break
      seen.add(message)
      if (message.tool_call_id !== undefined) ids.add(message.tool_call_id)
    }
  }
  return ids
}

const increase = (counts: Map<string, number>, key: string, by: number): void =>
  void counts.set(key, (counts.get(key) ?? 0) + by)
