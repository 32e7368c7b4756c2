import {
  asRecord,
  type CaptureMode,
  type Constraint,
  countIn,
  Environment,
  type Event,
  type LoosePayload,
  numberIn,
  payloadOf,
  recordsIn,
  textHash,
  textIn,
} from "@orangebox/contract"
import { parseJson } from "@orangebox/dialects"
import { hasEnded, isOpen } from "@orangebox/runs"
import type { Action } from "./action.js"
import { artifactsOf } from "./artifacts-of.js"
import { type CapturedText, capturedText } from "./captured-text.js"
import type { CheckedConstraint } from "./checks/constraint.js"
import type { RunEvaluation } from "./checks/evaluate.js"
import { standingEvaluation, UNKNOWN_EVALUATION, verdictsOnRecord } from "./evaluation-on-record.js"
import type { DecisionEvaluation, DecisionEvent, PromptBundle } from "./generated.js"
import { errorOf, hasNoAnswer, type ModelCall, refOf } from "./model-calls.js"
import { PromptReader } from "./prompt-bundle.js"
import { type ReadOptions, type RunReading, readRun } from "./read-run.js"
import { bodyText, type RecordedRun } from "./recorded-run.js"
import { type CallPrompt, sentPrompts } from "./sent-prompts.js"

const DECISION_SCHEMA_VERSION: DecisionEvent["schema_version"] = "0.2"

export interface DecisionOptions extends ReadOptions {
  /**
   * What `evaluateRun` says about the run. Its constraints are listed beside those the run was started with. Left out, the evaluation on
   * record counts, or unknown where there is none.
   */
  readonly evaluation?: RunEvaluation | undefined
}

import { isSeenOnWire, questionIn } from "./user-requests.js"
import { changeOwners } from "./workspace-changes.js"

/**
 * Every action of a run as a DecisionEvent, in order. Ids are derived from the boundary events, so that two readings of one run agree;
 * `evaluation` is always there, with statuses `unknown` where there was no judgement.
 *
 * @example
 * for (const decision of decisionsOf({ events, bodies })) console.log(JSON.stringify(decision))
 */
export function decisionsOf(run: RecordedRun, options: DecisionOptions = {}): DecisionEvent[] {
  return decisionsOfReading(readRun(run, options), options)
}

export function decisionsOfReading(reading: RunReading, options: DecisionOptions = {}): DecisionEvent[] {
  const maker = new DecisionMaker(reading, options)
  return reading.run.actions.map((action) => maker.make(action))
}

class DecisionMaker {
  readonly #reading: RunReading
  readonly #prompts: ReadonlyMap<string, CallPrompt>
  readonly #verdicts: ReturnType<typeof verdictsOnRecord>
  readonly #evaluations: ReadonlyMap<string, DecisionEvaluation>
  readonly #started: ReturnType<typeof payloadOf>
  readonly #session: DecisionEvent["session"]
  readonly #constraints: Constraint[]
  readonly #inputs: readonly InputText[]
  readonly #placeOf: ReadonlyMap<string, number>
  readonly #artifacts: ReadonlyMap<string, Event[]>
  readonly #noPrompt: { readonly bundle: PromptBundle; readonly bundleHash: string }
  /** The steps that are actions. */
  readonly #spans: ReadonlySet<string>
  readonly #outputs = new Map<string, DecisionEvent["model_output"]>()

  constructor(reading: RunReading, options: DecisionOptions) {
    const { index, bodies } = reading
    this.#reading = reading
    this.#prompts = sentPrompts(reading)
    this.#verdicts = verdictsOnRecord(reading)
    const { actions = [], results = [] } = options.evaluation ?? {}
    this.#evaluations = new Map(actions.map(({ eventId, evaluation }) => [eventId, evaluation]))
    this.#started = payloadOf(index.steps[0]?.opened)
    this.#session = sessionOf(reading)
    this.#constraints = constraintsOf(
      this.#started,
      results.map(({ constraint }) => constraint),
    )
    this.#inputs = inputsOf(reading)
    this.#placeOf = new Map(index.events.map((event, at) => [event.event_id, at]))
    this.#artifacts = recordedArtifacts(reading)
    const isStep = ({ boundary }: Action): boolean => boundary === "tool" || boundary === "completion"
    this.#spans = new Set(reading.run.actions.filter(isStep).map(({ stepId }) => stepId))
    const bundle: PromptBundle = {
      messages: [],
      retrieval: { enabled: false, sources: [], snippets: null },
      source: "none",
      tools: [],
      transformations: [],
    }
    this.#noPrompt = { bundle, bundleHash: new PromptReader(bodies).hash(bundle) }
  }

  make(action: Action): DecisionEvent {
    const prompt = action.modelStepId === null ? undefined : this.#prompts.get(action.modelStepId)
    const ownsStep = action.boundary === "tool" || action.boundary === "completion"
    return {
      schema_version: DECISION_SCHEMA_VERSION,
      event_id: decisionId(action.eventId),
      timestamp: (action.boundary === "completion" ? action.closedAt : null) ?? action.openedAt,
      trace_id: this.#reading.run.traceId,
      span_id: ownsStep ? action.stepId : decisionSpanId(action.eventId),
      parent_span_id: this.#parentOf(action, ownsStep),
      session: this.#session,
      request: this.#request(action, prompt),
      prompt_provenance: this.#provenance(action, prompt),
      model_output: prompt ? this.#output(prompt.call) : NO_OUTPUT,
      agent_action: {
        action_type: action.type,
        // What a replay made up is never shown without its mark, in any reader and however often it is replayed.
        action_summary: this.#reading.index.stepOf(action.stepId)?.isMadeUp
          ? `[simulated] ${action.summary}`
          : action.summary,
        artifacts: artifactsOf(action, this.#artifactsOf(action), this.#reading.bodies),
        tool_results: toolResultsOf(action, this.#reading),
        step_no: action.stepNo,
        status: action.status,
        inferred_by: action.inferredBy,
      },
      evaluation: this.#evaluation(action),
    }
  }

  /**
   * The tree of actions: a tool hangs below the model call that asked for it, everything else below the nearest action around it, a last word
   * below the call it came from. A parent is always a decision of the same run.
   */
  #parentOf(action: Action, ownsStep: boolean): string | null {
    const isTold = (stepId: string | null): stepId is string => stepId !== null && this.#spans.has(stepId)
    if (action.boundary === "tool" && isTold(action.modelStepId)) return action.modelStepId
    const { index } = this.#reading
    const start = ownsStep ? action.parentStepId : action.stepId
    for (let step = start ? index.stepOf(start) : undefined; step; step = step.parent)
      if (isTold(step.id)) return step.id
    return !ownsStep && isTold(action.modelStepId) ? action.modelStepId : null
  }

  #evaluation(action: Action): DecisionEvaluation {
    const judged = this.#evaluations.get(action.eventId)
    const recorded = this.#verdicts.ofStep.get(action.stepId)
    const evaluation = standingEvaluation(judged, recorded, action.unread.length > 0) ?? UNKNOWN_EVALUATION
    const overrides = action.boundary === "override" ? undefined : this.#verdicts.overridesOf.get(action.stepId)
    return overrides ? { ...evaluation, overrides: [...overrides] } : evaluation
  }

  #request(action: Action, prompt: CallPrompt | undefined): DecisionEvent["request"] {
    const said = this.#userRequest(action, prompt)
    const { run } = this.#reading
    return {
      request_id: textIn(this.#started, "request_id") ?? run.runId,
      user_request_raw: said?.text ?? "",
      ...(said?.form ? { user_request_form: said.form } : {}),
      constraints: this.#constraints,
      context: {
        channel: textIn(this.#started, "channel") ?? textIn(this.#started, "entrypoint_name") ?? "unknown",
        repo: textIn(this.#started, "repo") ?? null,
        branch: textIn(this.#started, "branch") ?? null,
        ticket_id: textIn(this.#started, "ticket_id") ?? null,
      },
    }
  }

  /** The input that came last before the action; in a run of many turns that the agent did not record as inputs, the question the turn asks. */
  #userRequest(action: Action, prompt: CallPrompt | undefined): CapturedText | null {
    const at = this.#placeOf.get(action.eventId) ?? 0
    const input = lastBefore(this.#inputs, at)
    if (input?.isOfTurn || !prompt || !isSeenOnWire(prompt.call.step)) return input?.said ?? null
    const own = questionIn(prompt.prompt)
    return own ? { text: own.content, form: own.content_form } : (input?.said ?? null)
  }

  #provenance(action: Action, prompt: CallPrompt | undefined): DecisionEvent["prompt_provenance"] {
    const { bundle, bundleHash } = prompt ?? this.#noPrompt
    const call = prompt?.call
    const opening = payloadOf(call?.sent.opened)
    const sampling = prompt?.prompt.sampling
    const provider = call?.provider ?? "none"
    return {
      provider: provider === "openai" || provider === "anthropic" ? provider : "other",
      ...(provider === "openai" || provider === "anthropic" ? {} : { provider_name: provider }),
      model: call ? (call.modelId ?? "unknown") : "none",
      capture_mode: captureOf(action, this.#reading),
      prompt_bundle: bundle,
      prompt_bundle_hash: bundleHash,
      parameters: {
        temperature: numberIn(opening, "temperature") ?? sampling?.temperature ?? null,
        top_p: numberIn(opening, "top_p") ?? sampling?.topP ?? null,
        // An agent may ask for half a token; that is no count.
        max_tokens: countIn(opening, "max_tokens") ?? countIn({ ...sampling }, "maxTokens") ?? null,
      },
      model_step_id: action.modelStepId,
      request_ref: call?.requestRef ?? null,
    }
  }

  #output(call: ModelCall): DecisionEvent["model_output"] {
    const known = this.#outputs.get(call.step.id)
    if (known) return known
    const { answer, responseRef } = call
    const said = answer.exists ? capturedText(answer.text, responseRef, refOf(call.result, responseRef)) : null
    const output = {
      completion_id: answer.id,
      output_raw: said?.text ?? null,
      ...(said?.form ? { output_form: said.form } : {}),
      output_structured: structured(answer.text),
      tool_calls: answer.toolCalls.map((tool) => {
        const given = capturedText(tool.arguments, null)
        return {
          id: tool.id,
          name: tool.name,
          arguments: given?.text ?? null,
          ...(given?.form ? { arguments_form: given.form } : {}),
          runs_at: tool.runsAt,
        }
      }),
      usage: {
        input_tokens: answer.usage?.prompt ?? null,
        output_tokens: answer.usage?.completion ?? null,
        latency_ms: call.step.durationUs === undefined ? null : call.step.durationUs / 1000,
      },
      ...(hasNoAnswer(call) && { error: this.#error(call) }),
    }
    this.#outputs.set(call.step.id, output)
    return output
  }

  #error(call: ModelCall): DecisionEvent["model_output"]["error"] {
    const { class: errorClass, httpStatus, message } = errorOf(call, this.#reading.bodies)
    return {
      class: errorClass,
      http_status: httpStatus,
      message: message?.text ?? null,
      ...(message?.form && { message_form: message.form }),
    }
  }

  #artifactsOf(action: Action): readonly Event[] {
    return action.boundary === "tool" || action.boundary === "completion"
      ? (this.#artifacts.get(action.stepId) ?? [])
      : (this.#artifacts.get(action.eventId) ?? [])
  }
}

const NO_OUTPUT: DecisionEvent["model_output"] = {
  completion_id: null,
  output_raw: null,
  output_structured: null,
  tool_calls: [],
  usage: { input_tokens: null, output_tokens: null, latency_ms: null },
}

interface InputText {
  readonly place: number
  readonly said: CapturedText | null
  /** It was recorded as an input; the run's own is only what the run began with. */
  readonly isOfTurn: boolean
}

/** Inputs are in order; a run may have as many as it has turns. */
function lastBefore(inputs: readonly InputText[], place: number): InputText | undefined {
  let [low, high] = [0, inputs.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (inputs[middle]!.place <= place) low = middle + 1
    else high = middle
  }
  return inputs[low - 1]
}

function sessionOf({ index, run }: RunReading): DecisionEvent["session"] {
  const started = payloadOf(index.steps[0]?.opened)
  const environment = Environment.safeParse(started["environment"])
  return {
    session_id: index.steps[0]?.opened?.conversation_id ?? run.runId,
    run_id: run.runId,
    agent_id: agentIn(started),
    agent_version: textIn(started, "agent_version") ?? "unknown",
    environment: environment.success ? environment.data : "unknown",
  }
}

function constraintsOf(started: ReturnType<typeof payloadOf>, judged: readonly CheckedConstraint[]): Constraint[] {
  // Of two constraints with one id, the later was judged under another; it is listed under that alone.
  const isJudged = new Set(judged.filter(({ source }) => source === "api").map(({ rule }) => rule))
  const recorded = recordsIn(started, "constraints").flatMap((given) => {
    const [id, type, rule] = [textIn(given, "id"), textIn(given, "type"), textIn(given, "rule")]
    if (id === undefined || rule === undefined || isJudged.has(rule)) return []
    return [{ id, type: isConstraintType(type) ? type : ("other" as const), rule }]
  })
  const all = new Map<string, Constraint>()
  for (const { id, type, rule } of [...recorded, ...judged]) {
    const key = `${id}\0${rule}`
    if (!all.has(key)) all.set(key, { id, type, rule })
  }
  return [...all.values()]
}

const isConstraintType = (type: string | undefined): type is Constraint["type"] =>
  type === "style" || type === "safety" || type === "format" || type === "scope" || type === "other"

function inputsOf({ index, bodies, run }: RunReading): InputText[] {
  const inputs: InputText[] = []
  const started = payloadOf(index.steps[0]?.opened)
  const startRef = textIn(started, "input_summary_ref") ?? null
  const summary = textIn(started, "input_summary") ?? null
  const first = capturedText(bodyText(bodies, startRef) ?? (startRef === null ? summary : null), startRef)
  const request = capturedText(run.request.text, run.request.ref)
  inputs.push({ place: -1, said: request ?? first, isOfTurn: false })
  index.events.forEach((event, place) => {
    if (event.event_type !== "input_received") return
    const payload = payloadOf(event)
    const ref = textIn(payload, "input_ref") ?? textIn(payload, "input_hash") ?? null
    const text = bodyText(bodies, ref)
    inputs.push({ place, said: capturedText(text, ref, refOf(event, ref)), isOfTurn: true })
  })
  return inputs
}

/** Artifacts by the action they belong to: the tool or model step they were recorded in, or below. */
function recordedArtifacts({ index, run }: RunReading): Map<string, Event[]> {
  const found = new Map<string, Event[]>()
  const owners = new Map<string, Action>()
  for (const action of run.actions) if (action.boundary !== "override") owners.set(action.stepId, action)
  const changers = changeOwners(index, run.actions)
  for (const event of index.events) {
    if (event.event_type !== "artifact_recorded") continue
    let step = index.stepOf(changers.get(event) ?? event.step_id ?? "")
    while (step && !owners.has(step.id)) step = step.parent
    const action = step && owners.get(step.id)
    if (action === undefined) continue
    const key = action.boundary === "tool" || action.boundary === "completion" ? action.stepId : action.eventId
    const list = found.get(key) ?? []
    list.push(event)
    found.set(key, list)
  }
  return found
}

function toolResultsOf(action: Action, { index }: RunReading): DecisionEvent["agent_action"]["tool_results"] {
  const { tool } = action
  const isUnfinished = tool !== null && isOpen(tool.status)
  if (!tool || (isUnfinished && !hasEnded(index.status) && index.status !== "crashed")) return []
  const result = capturedText(
    tool.resultText,
    tool.resultRef,
    refOf(index.stepOf(action.stepId)?.closed, tool.resultRef),
  )
  return [
    {
      tool_call_id: tool.callId,
      tool_name: tool.name,
      status: tool.status,
      exit_code: tool.exitCode,
      result: result?.text ?? null,
      ...(result?.form ? { result_form: result.form } : {}),
      result_ref: tool.resultRef,
      ...(isUnfinished && { duration_ms: openFor(action.stepId, index) }),
    },
  ]
}

/** For how long a step had been open when the run was heard of last: at least so long it was at work. Null where nothing was heard since. */
function openFor(stepId: string, { stepOf, facts }: RunReading["index"]): number | null {
  const opened = stepOf(stepId)?.opened?.mono_us
  return typeof opened === "number" && facts.lastMono > opened ? (facts.lastMono - opened) / 1000 : null
}

// A recording that does not say how it was captured kept its text as it was: everything before capture modes did.
const captureOf = (action: Action, { run }: RunReading): CaptureMode => action.capture ?? run.capture ?? "full"

function structured(text: string | null): Record<string, unknown> | null {
  if (text === null || !/^\s*\{/.test(text)) return null
  const value = asRecord(parseJson(text))
  return value ? { ...value } : null
}

/**
 * Ids of what is computed are derived from the event they are computed from: reading a run twice, on any machine, gives the same ones. The
 * event's own id is not reused, because a decision is not that event.
 */
function decisionId(boundaryEventId: string): string {
  const digits = digitsOf(`decision\0${boundaryEventId}`)
  const variant = ((Number.parseInt(digits[16]!, 16) & 0x3) | 0x8).toString(16)
  // Version 8: the layout is ours.
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(13, 16)}-${variant}${digits.slice(17, 20)}-${digits.slice(20, 32)}`
}

/** For actions that happen inside a step and so need an id beside the step's. */
function decisionSpanId(boundaryEventId: string): string {
  const digits = digitsOf(`decision span\0${boundaryEventId}`).slice(0, 16)
  return /^0+$/.test(digits) ? "0000000000000001" : digits
}

const digitsOf = (name: string): string => textHash(name).slice("sha256:".length)

/** Whose run it is: the agent that was named, else the application. */
export const agentIn = (started: LoosePayload): string =>
  textIn(started, "agent_id") ?? textIn(started, "app_id") ?? "unknown"
