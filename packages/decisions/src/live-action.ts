import { canonicalHash, textHash } from "@orangebox/contract"
import { parseJson } from "@orangebox/dialects"
import type { Action, ActionTool } from "./action.js"
import type { ReadOptions } from "./read-run.js"
import { readTool } from "./tool-action.js"

/** A tool call that has not run yet. */
export interface ToolCallAhead {
  readonly name: string
  readonly args: unknown
  readonly stepId?: string
  /** The same object for all calls of a run. */
  readonly run?: object
}

/**
 * The action a tool call would be, for a guard that judges before it runs. It is read with the same code as a recorded one, so that what a
 * guard says live is what a check says later, wherever the arguments are kept.
 */
export function actionAhead(call: ToolCallAhead, options: ReadOptions = {}): Action {
  const argsText = textOf(call.args)
  const stepId = call.stepId ?? ""
  const tool: ActionTool = {
    name: call.name,
    callId: null,
    args: argsText === null ? call.args : (parseJson(argsText) ?? argsText),
    argsText,
    argsRef: argsText === null ? canonicalHash(null) : textHash(argsText),
    resultText: null,
    resultRef: null,
    status: "open",
    exitCode: null,
  }
  return {
    eventId: "",
    stepId,
    parentStepId: null,
    stepNo: 0,
    boundary: "tool",
    openedAt: "",
    closedAt: null,
    inferredBy: null,
    capture: null,
    modelStepId: null,
    output: null,
    ...readTool(tool, options.tools ?? {}, { stepId, isOnWire: false }),
  }
}

/** How a call ended. */
export interface ToolEnd {
  readonly result: unknown
  readonly status: "success" | "timeout" | "error" | "partial"
  readonly exitCode?: number | undefined
  /** It was seen in the traffic of an agent that does not record itself. */
  readonly isOnWire?: true
}

/** The same action when its call has ended. */
export function endedTool({ tool, stepId }: Action, end: ToolEnd, options: ReadOptions = {}) {
  const resultText = end.result === undefined ? null : textOf(end.result)
  const resultRef = resultText === null ? null : textHash(resultText)
  const ended = { ...tool!, resultText, resultRef, status: end.status, exitCode: end.exitCode ?? null }
  return readTool(ended, options.tools ?? {}, { stepId, isOnWire: end.isOnWire === true })
}

/** What an agent said, as the action it is. */
export function outputSaid({ output, isFinal, stepId }: { output: string; isFinal: boolean; stepId: string }): Action {
  return {
    ...actionAhead({ name: "", args: null, stepId }),
    boundary: isFinal ? "output" : "completion",
    type: "message",
    summary: "",
    status: "success",
    unread: [],
    tool: null,
    output: { text: output, ref: null },
    evidence: [{ stepId, ref: null }],
  }
}

/** As a recorder keeps them: text as it is, everything else as its JSON. Null for what has no JSON. */
function textOf(args: unknown): string | null {
  if (typeof args === "string") return args
  try {
    return JSON.stringify(args) ?? "null"
  } catch {
    return null
  }
}
