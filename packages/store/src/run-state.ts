import {
  definitionOf,
  type Event,
  isEventType,
  type StepKind,
  type StepRole,
  type TokenUsage,
} from "@orangebox/contract"
import type { RunStatus, StepRow } from "./trace-store.js"

/**
 * A run's row and its open steps, brought forward event by event. Pure, and the same whether events come one at a time, in batches or
 * all at once in a rebuild. What arrives out of order (a close before its open) still ends in the same row.
 */
export interface RunState {
  readonly runId: string
  traceId: string | null
  conversationId: string | null
  app: string | null
  entrypoint: string | null
  environment: string | null
  terminal: "completed" | "failed" | null
  isCrashed: boolean
  startedAtMs: number
  endedAtMs: number | null
  lastAtMs: number
  firstMono: number
  lastMono: number
  inputSummary: string | null
  errorClass: string | null
  errorSummary: string | null
  captureMode: string | null
  sourceRunId: string | null
  events: number
  steps: number
  modelCalls: number
  toolCalls: number
  errors: number
  tokens: MutableTokens
  /** Steps that are not complete, in opening order. */
  readonly openSteps: Map<string, StepState>
}

export interface StepState {
  /** From 1, in the order in which steps were first seen. */
  readonly no: number
  readonly stepId: string
  parentId: string | null
  readonly kind: StepKind
  name: string
  provider: string | null
  status: StepRow["status"]
  openedAtMs: number
  openedMono: number | null
  closedMono: number | null
  /** Keys of the events that open and close it. */
  opened: number | null
  closed: number | null
  durationMicros: number | null
  attemptNo: number | null
  errorClass: string | null
  tokens: MutableTokens
}

export interface MutableTokens {
  prompt: number | null
  completion: number | null
  cacheRead: number | null
  cacheWrite: number | null
  reasoning: number | null
}

/** Columns of a row, not places for content: what breaks the contract by being longer is cut here and whole in its event. */
const MAX_COLUMN_TEXT = 512

export function newRunState(runId: string, first: Event, atMs: number): RunState {
  return {
    runId,
    traceId: first.trace_id,
    conversationId: null,
    app: null,
    entrypoint: null,
    environment: null,
    terminal: null,
    isCrashed: false,
    startedAtMs: atMs,
    endedAtMs: null,
    lastAtMs: atMs,
    firstMono: Number.MAX_SAFE_INTEGER,
    lastMono: 0,
    inputSummary: null,
    errorClass: null,
    errorSummary: null,
    captureMode: null,
    sourceRunId: null,
    events: 0,
    steps: 0,
    modelCalls: 0,
    toolCalls: 0,
    errors: 0,
    tokens: noTokens(),
    openSteps: new Map(),
  }
}

export function statusOf(run: RunState): RunStatus {
  return run.terminal ?? (run.isCrashed ? "crashed" : "running")
}

/** A run that will get no more events of its own, as far as anyone knows. */
export function isClosed(status: RunStatus): boolean {
  return status !== "running"
}

/** Takes in one event and returns the step it opened or closed, if any. `key` is how the store will find the event again. */
export function applyEvent(run: RunState, event: Event, key: number, atMs: number): StepState | undefined {
  run.events++
  run.traceId ??= event.trace_id
  if (event.conversation_id !== undefined) run.conversationId ??= text(event.conversation_id)
  if (event.replay !== undefined) run.sourceRunId ??= text(event.replay?.source_run_id)
  if (event.sequence_no === null) {
    if (event.event_type === "process_crashed") run.isCrashed = true
    return undefined
  }
  if (atMs > run.lastAtMs) run.lastAtMs = atMs
  const mono = monoOf(event)
  if (mono !== null) {
    if (mono > run.lastMono) run.lastMono = mono
    if (mono < run.firstMono) run.firstMono = mono
  }
  applyRunEvent(run, event, atMs)

  const role = roleOf(event.event_type)
  if (role === undefined || event.step_id === null) return undefined
  if (role.does === "opens") return openStep(run, event, key, atMs, role.step)
  return role.does === "closes" ? closeStep(run, event, key, atMs, role.step) : undefined
}

function applyRunEvent(run: RunState, event: Event, atMs: number): void {
  switch (event.event_type) {
    case "run_started":
      run.app = text(event.payload.app_id)
      run.entrypoint = text(event.payload.entrypoint_name)
      run.environment = text(event.payload.environment)
      run.captureMode = text(event.payload.capture_mode)
      run.inputSummary ??= text(event.payload.input_summary)
      run.startedAtMs = atMs
      break
    case "input_received":
      run.inputSummary ??= text(event.payload.input_summary)
      break
    case "run_completed":
      run.terminal ??= "completed"
      run.endedAtMs ??= atMs
      break
    case "run_failed":
      run.terminal ??= "failed"
      run.endedAtMs ??= atMs
      run.errorClass ??= text(event.payload.error_class)
      run.errorSummary ??= text(event.payload.error_summary)
      break
  }
}

function openStep(run: RunState, event: Event, key: number, atMs: number, kind: StepKind): StepState {
  const known = run.openSteps.get(event.step_id!)
  const step = known ?? newStep(run, event, kind)
  if (step.opened !== null) return step
  step.opened = key
  step.parentId = event.parent_step_id
  step.openedAtMs = atMs
  step.openedMono = monoOf(event)
  step.attemptNo = Number.isSafeInteger(event.attempt_no) ? event.attempt_no! : null
  const { name, provider } = nameOf(event)
  step.name = name || step.name
  step.provider = provider ?? step.provider
  if (step.closed !== null) complete(run, step)
  return step
}

function closeStep(run: RunState, event: Event, key: number, atMs: number, kind: StepKind): StepState {
  const known = run.openSteps.get(event.step_id!)
  const step = known ?? newStep(run, event, kind)
  if (step.closed !== null) return step
  if (known === undefined) step.openedAtMs = atMs
  step.closed = key
  step.closedMono = monoOf(event)
  const { name, provider } = nameOf(event)
  if (step.name === "") step.name = name
  step.provider ??= provider
  applyOutcome(run, step, event)
  if (step.opened !== null) complete(run, step)
  return step
}

function applyOutcome(run: RunState, step: StepState, event: Event): void {
  switch (event.event_type) {
    case "run_completed":
      step.status = "success"
      break
    case "run_failed":
      step.status = "error"
      step.errorClass = text(event.payload.error_class)
      break
    case "step_ended":
    case "tool_result":
      step.status = known(event.payload.status)
      step.errorClass = text(event.payload.error_class)
      step.durationMicros = micros(event.payload.latency_ms)
      break
    case "model_result":
      step.errorClass = text(event.payload.error_class)
      step.status = known(event.payload.status ?? (step.errorClass === null ? "success" : "error"))
      step.durationMicros = micros(event.payload.latency_ms)
      takeUsage(step.tokens, event.payload.token_usage)
      // A logical call made of several attempts repeats their usage, so only calls that are not attempts count for the run.
      if (event.attempt_no === undefined) addTokens(run.tokens, step.tokens)
      break
  }
  if (step.kind !== "run" && (step.status === "error" || step.status === "timeout")) run.errors++
}

function complete(run: RunState, step: StepState): void {
  if (step.openedMono !== null && step.closedMono !== null && step.closedMono >= step.openedMono) {
    step.durationMicros = step.closedMono - step.openedMono
  }
  run.openSteps.delete(step.stepId)
}

function newStep(run: RunState, event: Event, kind: StepKind): StepState {
  run.steps++
  if (event.attempt_no === undefined) {
    if (kind === "model") run.modelCalls++
    else if (kind === "tool") run.toolCalls++
  }
  const step: StepState = {
    no: run.steps,
    stepId: event.step_id!,
    parentId: event.parent_step_id,
    kind,
    name: "",
    provider: null,
    status: "open",
    openedAtMs: 0,
    openedMono: null,
    closedMono: null,
    opened: null,
    closed: null,
    durationMicros: null,
    attemptNo: event.attempt_no ?? null,
    errorClass: null,
    tokens: noTokens(),
  }
  run.openSteps.set(step.stepId, step)
  return step
}

function nameOf(event: Event): { name: string; provider: string | null } {
  switch (event.event_type) {
    case "run_started":
      return { name: text(event.payload.entrypoint_name) ?? "", provider: null }
    case "model_called":
    case "model_result":
      return { name: text(event.payload.model_id) ?? "", provider: text(event.payload.provider) }
    case "tool_called":
    case "tool_result":
      return { name: text(event.payload.tool_name) ?? "", provider: null }
    case "step_started":
      return { name: text(event.payload.name) ?? "", provider: null }
    default:
      return { name: "", provider: null }
  }
}

const roles = new Map<string, StepRole | undefined>()

function roleOf(type: string): StepRole | undefined {
  if (roles.has(type)) return roles.get(type)
  const role = isEventType(type) ? definitionOf(type).role : undefined
  roles.set(type, role)
  return role
}

const STATUSES: readonly string[] = ["success", "error", "timeout", "partial"]

function known(status: unknown): StepRow["status"] {
  return STATUSES.includes(status as string) ? (status as StepRow["status"]) : "partial"
}

function text(value: unknown): string | null {
  if (typeof value !== "string") return null
  return value.length > MAX_COLUMN_TEXT ? value.slice(0, MAX_COLUMN_TEXT).toWellFormed() : value
}

function micros(latencyMs: unknown): number | null {
  return typeof latencyMs === "number" && latencyMs >= 0 ? Math.round(latencyMs * 1000) : null
}

export function noTokens(): MutableTokens {
  return { prompt: null, completion: null, cacheRead: null, cacheWrite: null, reasoning: null }
}

function takeUsage(tokens: MutableTokens, usage: TokenUsage | undefined): void {
  tokens.prompt = count(usage?.prompt)
  tokens.completion = count(usage?.completion)
  tokens.cacheRead = count(usage?.cache_read)
  tokens.cacheWrite = count(usage?.cache_write)
  tokens.reasoning = count(usage?.reasoning)
}

function count(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : null
}

/** Unknown is not zero: a sum is null until something was known. */
export function addTokens(sum: MutableTokens, tokens: MutableTokens): void {
  for (const field of TOKEN_FIELDS) {
    const value = tokens[field]
    if (value !== null) sum[field] = (sum[field] ?? 0) + value
  }
}

export const TOKEN_FIELDS = ["prompt", "completion", "cacheRead", "cacheWrite", "reasoning"] as const

/** An event that breaks the contract counts too, but a reading that is no number says nothing about time. */
function monoOf({ mono_us: mono }: Event): number | null {
  return Number.isSafeInteger(mono) ? mono : null
}
