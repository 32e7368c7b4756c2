import { canonicalHash, textHash } from "@orangebox/contract"
import { parseJson } from "@orangebox/dialects"
import type { Action, ActionTool } from "./action.js"
import type { ReadOptions } from "./read-run.js"
import { asActionType, readTool } from "./tool-action.js"

/** A tool call that has not run yet. */
export interface ToolCallAhead {
  readonly name: string
  readonly args: unknown
  readonly callId?: string
  readonly stepId?: string
  readonly parentStepId?: string | null
  /** The body the arguments will be recorded as, where that is known. */
  readonly argsRef?: string
  readonly attributes?: { readonly [name: string]: unknown }
  readonly at?: string
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
    callId: call.callId ?? null,
    args: argsText === null ? call.args : (parseJson(argsText) ?? argsText),
    argsText,
    argsRef: call.argsRef ?? (argsText === null ? canonicalHash(null) : textHash(argsText)),
    resultText: null,
    resultRef: null,
    status: "open",
    exitCode: null,
  }
  const told = call.attributes?.["action_type"]
  return {
    eventId: "",
    stepId,
    parentStepId: call.parentStepId ?? null,
    stepNo: 0,
    boundary: "tool",
    openedAt: call.at ?? "",
    closedAt: null,
    inferredBy: null,
    capture: null,
    modelStepId: null,
    output: null,
    ...readTool(tool, options.tools ?? {}, {
      stepId,
      isOnWire: false,
      toldType: asActionType(told),
      toldSummary: undefined,
      argsSummary: undefined,
    }),
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
