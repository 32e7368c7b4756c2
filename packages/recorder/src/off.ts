import { toolSource } from "@orangebox/contract"
import type { Logger } from "./logger.js"
import { QueueHandle } from "./queue.js"
import type { Run } from "./run.js"
import type { Handoff, ModelCall, ModelSend, ModelStep, ToolCall, ToolContext, ToolPromise, ToolStep } from "./step.js"
import { withTimeLimit } from "./time-limit.js"

/**
 * Recording off: the same handles, doing nothing. One object serves as run, step, model step and tool step, so that instrumented code
 * allocates nothing and takes the same paths as with recording on; tools still run, time limits still hold.
 */
const NOTHING = (): void => {}

const neverAborts = new AbortController().signal

const NO_TRACE = "0".repeat(32)
const NO_STEP = "0".repeat(16)
const NO_SOURCE = Object.freeze({ sourceRef: toolSource(NO_STEP) })
const NOWHERE: Handoff = Object.freeze({ traceId: NO_TRACE, runId: "run_off", stepId: NO_STEP })

/** A handoff from a process that does not record names no trace to join. */
export function isNowhere(handoff: Handoff): boolean {
  return handoff.traceId === NO_TRACE
}

export const OFF_LOGGER: Logger = Object.freeze({
  debug: NOTHING,
  info: NOTHING,
  warn: NOTHING,
  error: NOTHING,
  child: () => OFF_LOGGER,
  span: () => OFF_RUN,
})

const NOTHING_TO_SEND: ModelSend = Object.freeze({ signal: neverAborts, headers: Object.freeze({}) })

type OffHandle = Run & ModelStep & ToolStep

const off: OffHandle = {
  id: NO_STEP,
  runId: NOWHERE.runId,
  traceId: NO_TRACE,
  log: OFF_LOGGER,
  signal: neverAborts,
  get queue() {
    return offQueue
  },
  setAttributes: NOTHING,
  addLink: NOTHING,
  child: () => off,
  step: () => off,
  end: NOTHING,
  as: () => off,
  get fetch() {
    return globalThis.fetch
  },
  async model<T>(_call: ModelCall<T>, send: (send: ModelSend, step: ModelStep) => T | PromiseLike<T>): Promise<T> {
    return send(NOTHING_TO_SEND, off)
  },
  startModel: () => off,
  tool<T>(call: ToolCall<T>, run: (context: ToolContext) => T | PromiseLike<T>): ToolPromise<T> {
    return Object.assign(runTool(call, run), NO_SOURCE)
  },
  startTool: () => off,
  async retrieval(_call, retrieve) {
    return retrieve({ log: OFF_LOGGER, step: off, signal: neverAborts })
  },
  inputReceived: NOTHING,
  promptRendered: NOTHING,
  promptAssembled: NOTHING,
  validatorDecision: NOTHING,
  safetyDecision: NOTHING,
  finalOutput: NOTHING,
  repair: NOTHING,
  decide: NOTHING,
  artifact: NOTHING,
  context: NOTHING,
  fault: () => [],
  snapshot: () => [],
  startRun: () => off,
  handoff: () => NOWHERE,
  emit: NOTHING,
  commit: NOTHING,
  send: NOTHING_TO_SEND,
  chunk: NOTHING,
  attempt: () => off,
  endModel: NOTHING,
  endTool: NOTHING,
  complete: NOTHING,
  fail: NOTHING,
}

async function runTool<T>(call: ToolCall<T>, run: (context: ToolContext) => T | PromiseLike<T>): Promise<T> {
  return withTimeLimit(call.name, call.timeoutMs, neverAborts, (signal) => run({ log: OFF_LOGGER, step: off, signal }))
}

export const OFF_RUN: Run = Object.freeze(off)
const offQueue = new QueueHandle(OFF_RUN)
