import type { CheckedConstraint } from "./checks/constraint.js"
import { CHECKS_EVALUATOR } from "./checks/evaluate.js"
import { createGuard, type GuardDecision, type GuardOptions } from "./checks/guard.js"
import type { CheckContext } from "./checks/rule.js"
import { actionAhead } from "./live-action.js"
import type { ReadOptions } from "./read-run.js"

/** A call as a recorder tells its guards, told by shape: this package does not know the recorder. */
export interface CallAhead {
  readonly kind: "model" | "tool"
  readonly name: string
  readonly args: unknown
  readonly step: { readonly id: string; readonly runId?: string }
}

/** What a recorder's guard answers. */
export interface CallVerdict {
  readonly decision: "allow" | "warn" | "block"
  readonly policy: string
  readonly reason: {
    readonly violations: readonly {
      readonly id: string
      readonly severity: "warn" | "fail"
      readonly message: string
    }[]
    readonly unknown: readonly string[]
  }
}

export interface LiveGuardOptions extends GuardOptions, ReadOptions {
  /** Hears every judgement, also those that let the call pass. */
  readonly onDecision?: (call: CallAhead, decision: GuardDecision) => void
}

/**
 * Checks as a recorder's guard: `Recorder.open({ guard: liveGuard(constraints) })`. A tool call that breaks a constraint is blocked before it
 * runs, one that may break it is let through with a warning, and both are on record as a `safety_decision`. It judges with the code that
 * judges stored runs, so a later check says the same wherever the arguments are kept.
 */
export function liveGuard(
  constraints: readonly CheckedConstraint[],
  context: CheckContext = {},
  options: LiveGuardOptions = {},
): (call: CallAhead) => CallVerdict | undefined {
  const judge = createGuard(constraints, context, options)
  return (call) => {
    if (call.kind !== "tool") return undefined
    const judged = judge(
      actionAhead({ name: call.name, args: call.args, stepId: call.step.id }, options),
      call.step.runId,
    )
    options.onDecision?.(call, judged)
    if (judged.decision === "allow") return undefined
    return {
      decision: judged.decision,
      policy: CHECKS_EVALUATOR,
      reason: {
        violations: judged.violations.map(({ id, severity, message }) => ({ id, severity, message })),
        unknown: judged.unknown,
      },
    }
  }
}
