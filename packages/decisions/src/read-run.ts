import { type ActionType, countIn, type Event, given, payloadOf, summarizeText, textIn } from "@orangebox/contract"
import { foldRun, hasEnded, type Run, type Step } from "@orangebox/runs"
import type { Action, ActionText, ModelUse, RunActions } from "./action.js"
import { holdsMask } from "./captured-text.js"
import { classifiedWork } from "./classified-work.js"
import { captureIn, captureOf, errorOf, hasNoAnswer, type ModelCall, modelCallsOf } from "./model-calls.js"
import { PromptReader } from "./prompt-bundle.js"
import { type BodyLookup, bodyText, type RecordedRun } from "./recorded-run.js"
import { asActionType, readToolStep, type ToolMeanings } from "./tool-action.js"
import { isSeenOnWire, questionIn } from "./user-requests.js"
import { seenChanges, withWorkspaceChanges, workTreeOf } from "./workspace-changes.js"

/** A run read once: everything in this package that asks about a run asks this. */
export interface RunReading {
  readonly index: Run
  readonly bodies: BodyLookup
  readonly calls: readonly ModelCall[]
  readonly callOfStep: ReadonlyMap<string, ModelCall>
  readonly run: RunActions
}

export interface ReadOptions {
  /** What the application's own tools do (`tools` in the configuration). */
  readonly tools?: ToolMeanings | undefined
}

/** The actions of a run in order, as checks evaluate them. */
export function actionsOf(run: RecordedRun, options: ReadOptions = {}): RunActions {
  return readRun(run, options).run
}

export function readRun(recorded: RecordedRun, options: ReadOptions = {}): RunReading {
  const { bodies } = recorded
  const { events, isWriterAlive = false, gaps = [] } = recorded
  const index = foldRun(events, { isWriterAlive, gaps })
  const calls = modelCallsOf(index, bodies)
  const callOfStep = new Map(calls.map((call) => [call.step.id, call]))
  const boundaries = boundariesOf({ index, bodies, callOfStep, meanings: options.tools ?? {} })
  const actions = withWorkspaceChanges(index, bodies, boundaries)
  return {
    index,
    bodies,
    calls,
    callOfStep,
    run: {
      runId: index.runId ?? "",
      traceId: index.facts.traceId ?? "",
      status: index.status,
      capture: captureIn(index.steps[0]?.opened),
      request: questionOf(index, calls, bodies) ?? requestOf(index, bodies),
      actions,
      seenChanges: seenChanges(index, bodies),
      workTree: workTreeOf(index, bodies),
      stepCount: index.steps.length,
      modelCalls: calls.map(useOf),
    },
  }
}

interface Reading {
  readonly index: Run
  readonly bodies: BodyLookup
  readonly callOfStep: ReadonlyMap<string, ModelCall>
  readonly meanings: ToolMeanings
}

function boundariesOf(reading: Reading): Action[] {
  const { index, callOfStep } = reading
  const askers = new Askers(index)
  const actions: Action[] = []
  const isOver = hasEnded(index.status) || index.status === "crashed"
  for (const event of index.events) {
    const step = event.step_id === null ? undefined : index.stepOf(event.step_id)
    if (event.event_type === "override") actions.push(overrideAction(reading, event, step))
    else if (step === undefined || event.sequence_no === null) continue
    else if (event.event_type === "final_output") {
      const output = outputAction(reading, event, step, askers)
      const said = actions.findLastIndex(({ boundary }) => boundary === "completion" || boundary === "tool")
      // The answer that the run ends with is one message, however often it is recorded.
      if (isSameMessage(actions[said], output)) actions[said] = { ...actions[said]!, isFinal: true }
      else actions.push(output)
    } else if (event.event_type === "decision") {
      // In the step of a tool or a model it says what that action is; anywhere else it is an action.
      if (step.kind !== "tool" && step.kind !== "model") actions.push(decisionAction(reading, event, step, askers))
    } else if (step.kind === "tool" && event === (step.opened ?? step.closed)) {
      actions.push(toolAction(reading, event, step, askers))
    } else if (step.kind === "model" && event === (step.closed ?? (isOver ? step.opened : undefined))) {
      const call = callOfStep.get(step.id)
      if (call === undefined) continue
      askers.answered(call)
      if (isAccepted(call)) actions.push(completionAction(reading, event, call))
      else if (hasNoAnswer(call)) actions.push(failedCallAction(reading, event, call))
    }
  }
  return plansSeenByTools(actions)
}

const isSameMessage = (said: Action | undefined, output: Action): boolean =>
  said?.boundary === "completion" &&
  said.type === "message" &&
  output.output?.text != null &&
  said.output?.text?.trim() === output.output.text.trim()

/** An answer whose text is not kept asked for tools when tools followed it. */
function plansSeenByTools(actions: Action[]): Action[] {
  const asked = new Set(
    actions.flatMap(({ boundary, modelStepId }) => (boundary === "tool" ? (modelStepId ?? []) : [])),
  )
  return actions.map((action) =>
    action.boundary === "completion" &&
    action.type === "message" &&
    action.output?.text === null &&
    asked.has(action.stepId)
      ? { ...action, type: "plan" }
      : action,
  )
}

/** An answer the agent went on with. */
const isAccepted = (call: ModelCall): boolean => {
  const { status } = call.step
  return call.answer.exists && (status === "success" || status === "partial")
}

/** Which model call asked for a tool: the one that named its id, else the one it follows, else the last one answered above it. */
class Askers {
  readonly #index: Run
  readonly #byCallId = new Map<string, string>()
  readonly #lastUnder = new Map<Step | undefined, string>()
  readonly #ofTool = new Map<string, string>()

  constructor(index: Run) {
    this.#index = index
  }

  answered(call: ModelCall): void {
    for (const { id } of call.answer.toolCalls) if (id !== null) this.#byCallId.set(id, call.step.id)
    this.#lastUnder.set(call.step.parent, call.step.id)
  }

  ofTool(step: Step, callId: string | null): string | null {
    const asker =
      (callId === null ? undefined : this.#byCallId.get(callId)) ?? this.#followed(step) ?? this.lastAbove(step.parent)
    if (asker) this.#ofTool.set(step.id, asker)
    return asker ?? null
  }

  lastAbove(step: Step | undefined): string | null {
    for (let at = step; at; at = at.parent) {
      const last = this.#lastUnder.get(at)
      if (last !== undefined) return last
    }
    return null
  }

  #followed(step: Step): string | undefined {
    for (const link of step.opened?.links ?? []) {
      if (link.kind !== "follows" || link.step_id === undefined) continue
      const followed = this.#index.stepOf(link.step_id)
      if (followed?.kind === "model") return followed.id
      if (followed?.kind === "tool") return this.#ofTool.get(followed.id)
    }
    return undefined
  }
}

type Place = Pick<
  Action,
  "eventId" | "stepId" | "parentStepId" | "stepNo" | "openedAt" | "closedAt" | "inferredBy" | "capture"
>
type Made = Pick<Action, "boundary" | "type" | "summary" | "status" | "modelStepId" | "evidence"> & Partial<Action>

/** Every action has the same members in the same order: there are thousands in a run, and joining objects costs ten times as much. */
function newAction(place: Place, made: Made): Action {
  return {
    eventId: place.eventId,
    stepId: place.stepId,
    parentStepId: place.parentStepId,
    stepNo: place.stepNo,
    boundary: made.boundary,
    type: made.type,
    summary: made.summary,
    status: made.status,
    openedAt: place.openedAt,
    closedAt: place.closedAt,
    inferredBy: place.inferredBy,
    capture: place.capture,
    modelStepId: made.modelStepId,
    unread: made.unread ?? NONE,
    tool: made.tool ?? null,
    output: made.output ?? null,
    paths: made.paths ?? NONE,
    commands: made.commands ?? NONE,
    edits: made.edits ?? NONE,
    testRuns: made.testRuns ?? NONE,
    commits: made.commits ?? NONE,
    pullRequests: made.pullRequests ?? NONE,
    targets: made.targets ?? NONE,
    evidence: made.evidence,
  }
}

const NONE: readonly never[] = []

function toolAction(reading: Reading, event: Event, step: Step, askers: Askers): Action {
  const read = readToolStep(step, reading.bodies, reading.meanings)
  const facts = read.unread.length === 0 ? read : { ...read, ...classifiedWork(step, reading.bodies) }
  const modelStepId = askers.ofTool(step, facts.tool?.callId ?? null)
  return newAction(placeOf(reading, event, step), { boundary: "tool", modelStepId, ...facts })
}

function completionAction(reading: Reading, event: Event, call: ModelCall): Action {
  const { step, answer, responseRef } = call
  const asked = answer.toolCalls.map(({ name }) => name)
  const decided = decisionIn(step)
  const summary = answer.text ?? textIn(payloadOf(event), "output_summary") ?? ""
  return newAction(placeOf(reading, event, step), {
    boundary: "completion",
    type: decided.type ?? (call.sideCall !== null ? "other" : asked.length > 0 ? "plan" : "message"),
    summary: summarizeText(
      decided.summary ??
        (asked.length > 0
          ? `asks for ${asked.join(", ")}${summary === "" ? "" : `: ${summary}`}`
          : summary || "an answer"),
    ),
    status: step.status,
    modelStepId: step.id,
    unread: unreadOutput(answer.text),
    output: { text: answer.text, ref: responseRef },
    evidence: [{ stepId: step.id, ref: responseRef }],
  })
}

/** A call without an answer decided nothing; that it was made, and how it failed, is on the trail all the same. */
function failedCallAction(reading: Reading, event: Event, call: ModelCall): Action {
  const { step, responseRef } = call
  const why = errorOf(call, reading.bodies)
  const words = [why.class, why.message?.text].filter((one) => one !== null && one !== undefined && one !== "")
  return newAction(placeOf(reading, event, step), {
    boundary: "completion",
    type: decisionIn(step).type ?? "other",
    summary: summarizeText(`the model gave no answer${words.length === 0 ? "" : `: ${words.join(": ")}`}`),
    status: step.status,
    modelStepId: step.id,
    evidence: [{ stepId: step.id, ref: responseRef }],
  })
}

function outputAction(reading: Reading, event: Event, step: Step, askers: Askers): Action {
  const payload = payloadOf(event)
  const ref = textIn(payload, "output_ref") ?? null
  const text = bodyText(reading.bodies, ref)
  return newAction(placeOf(reading, event, step), {
    boundary: "output",
    type: "message",
    summary: summarizeText(text ?? textIn(payload, "output_summary") ?? "the final output"),
    status: "success",
    modelStepId: askers.lastAbove(step),
    unread: unreadOutput(text),
    output: { text, ref },
    evidence: [{ stepId: step.id, ref }],
  })
}

const unreadOutput = (text: string | null): Action["unread"] => (text === null || holdsMask(text) ? OUTPUT : NONE)

const OUTPUT = ["output"] as const

function decisionAction(reading: Reading, event: Event, step: Step, askers: Askers): Action {
  const payload = payloadOf(event)
  return newAction(placeOf(reading, event, step), {
    boundary: "decision",
    type: asActionType(payload["action_type"]) ?? "other",
    summary: textIn(payload, "action_summary") ?? "",
    status: "success",
    modelStepId: askers.lastAbove(step),
    evidence: [{ stepId: step.id, ref: textIn(payload, "decision_ref") ?? null }],
  })
}

function overrideAction(reading: Reading, event: Event, step: Step | undefined): Action {
  const payload = payloadOf(event)
  const subject = reading.index.stepOf(textIn(payload, "subject_step_id") ?? "")
  const about = subject ?? step ?? reading.index.steps[0]
  const reasonRef = textIn(payload, "reason_ref") ?? null
  const author = textIn(payload, "author") ?? "somebody"
  const reason = bodyText(reading.bodies, reasonRef) ?? textIn(payload, "reason") ?? ""
  const place = {
    eventId: event.event_id,
    stepId: about?.id ?? event.step_id ?? "",
    parentStepId: about?.parent?.id ?? null,
    stepNo: about?.no ?? 0,
    openedAt: event.timestamp_utc,
    closedAt: event.timestamp_utc,
    inferredBy: event.inferred_by ?? null,
    capture: captureIn(reading.index.steps[0]?.opened),
  }
  return newAction(place, {
    boundary: "override",
    type: "override",
    summary: summarizeText(`${author} says ${textIn(payload, "verdict") ?? "unknown"}: ${reason}`),
    status: "success",
    modelStepId: null,
    evidence: [{ stepId: about?.id ?? event.step_id ?? "", ref: reasonRef }],
  })
}

function placeOf({ index }: Reading, event: Event, step: Step): Place {
  const isWithin = event !== step.opened && event !== step.closed
  return {
    eventId: event.event_id,
    stepId: step.id,
    parentStepId: step.parent?.id ?? null,
    stepNo: step.no,
    openedAt: (isWithin ? event : (step.opened ?? event)).timestamp_utc,
    closedAt: (isWithin ? event : step.closed)?.timestamp_utc ?? null,
    inferredBy: event.inferred_by ?? null,
    capture: captureOf(index, step),
  }
}

function decisionIn(step: Step): { type?: ActionType; summary?: string } {
  const payload = payloadOf(
    step.events.findLast((event) => event.event_type === "decision" && event.sequence_no !== null),
  )
  const type = asActionType(payload["action_type"])
  const summary = textIn(payload, "action_summary")
  return {
    ...given({ type, summary }),
  }
}

/**
 * What the user asked an agent whose traffic was recorded. Its run was started by a command line, which is no request; its first prompt of a
 * turn holds it.
 */
function questionOf(index: Run, calls: readonly ModelCall[], bodies: BodyLookup): ActionText | undefined {
  if (index.events.some((event) => event.event_type === "input_received")) return undefined
  const first = calls.find(({ step, sideCall }) => sideCall === null && isSeenOnWire(step))
  const asked = first && questionIn(new PromptReader(bodies).read(first))
  if (asked === undefined) return undefined
  return asked.content_form === "hash" ? { text: null, ref: asked.content } : { text: asked.content, ref: null }
}

function requestOf(index: Run, bodies: BodyLookup): ActionText {
  const received = index.events.find((event) => event.event_type === "input_received")
  const started = payloadOf(index.steps[0]?.opened)
  const ref = textIn(payloadOf(received), "input_ref") ?? textIn(started, "input_summary_ref") ?? null
  const summary = textIn(payloadOf(received), "input_summary") ?? textIn(started, "input_summary")
  return { text: bodyText(bodies, ref) ?? (ref === null ? (summary ?? null) : null), ref }
}

function useOf(call: ModelCall): ModelUse {
  const closing = payloadOf(call.usageRecord)
  return {
    stepId: call.step.id,
    provider: call.provider,
    modelId: call.modelId,
    at: (call.step.opened ?? call.step.events[0])?.timestamp_utc ?? "",
    usage: call.answer.usage,
    serviceTier: textIn(closing, "service_tier") ?? null,
    cacheWrite1hTokens: countIn(closing, "cache_write_1h_tokens") ?? null,
  }
}
