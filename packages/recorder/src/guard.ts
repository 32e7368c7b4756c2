import type { RaisedFault } from "./faults/raise-fault.js"
import type { Step } from "./step.js"

/** A call that is about to be made, as the guard sees it before anything happens. */
export interface GuardedCall {
  readonly kind: "model" | "tool"
  readonly name: string
  /** Arguments of a tool, or the request to a model, as they were given. */
  readonly args: unknown
  /** Equal for equal calls. */
  readonly signature: string
  /** The step the call belongs to. */
  readonly step: Step
}

export interface GuardVerdict {
  /** `warn` lets the call go on and says so in the record. */
  readonly decision: "allow" | "warn" | "block"
  /** Who decided, and in which version. */
  readonly policy: string
  readonly version?: string
  readonly reason?: unknown
  /** Raised whatever the decision. */
  readonly fault?: RaisedFault
}

/**
 * Looks at every call before it is made, at once: the recorder waits for no promise. What it says is recorded. What it throws blocks the call, and so
 * does an answer that is no verdict, for then the guard has not judged it.
 */
export type Guard = (call: GuardedCall) => GuardVerdict | undefined

/** A call that a guard did not let through. */
export class BlockedCallError extends Error {
  override readonly name = "BlockedCallError"
  readonly verdict: GuardVerdict

  constructor(call: GuardedCall, verdict: GuardVerdict) {
    super(`${call.kind} call ${call.name} was blocked by ${verdict.policy}`)
    this.verdict = verdict
  }
}

/**
 * Several guards as one: the first that blocks decides; every one that warns is heard. A fault is raised on the step around the call: what
 * led to the call was said there, and the call itself has seen nothing yet.
 */
export function askGuards(guards: readonly Guard[], around: Pick<Step, "fault">, call: GuardedCall): void {
  for (const guard of guards) {
    const verdict = verdictOf(guard, call)
    if (verdict === undefined) continue
    if (verdict.fault) around.fault(verdict.fault)
    if (verdict.decision === "allow") continue
    const decision = verdict.decision === "block" ? "block" : "escalate"
    call.step.safetyDecision({
      policy: verdict.policy,
      ...(verdict.version === undefined ? {} : { version: verdict.version }),
      decision,
      reason: verdict.reason ?? `${call.kind} call ${call.name}`,
    })
    if (verdict.decision === "block") throw new BlockedCallError(call, verdict)
  }
}

function verdictOf(guard: Guard, call: GuardedCall): GuardVerdict | undefined {
  try {
    // Guards are also written where no compiler looks at what they give back.
    const verdict: GuardVerdict | null | undefined = guard(call)
    if (verdict === undefined || verdict === null) return undefined
    if (DECISIONS.has(verdict.decision)) return verdict
    if (verdict instanceof Promise) verdict.catch(() => {})
    return blocked(`the guard gave ${verdict instanceof Promise ? "a promise" : "an answer"} that is no verdict`)
  } catch (error) {
    return blocked(`the guard threw ${error instanceof Error ? error.name : typeof error}`)
  }
}

const DECISIONS: ReadonlySet<unknown> = new Set<GuardVerdict["decision"]>(["allow", "warn", "block"])

const blocked = (reason: string): GuardVerdict => ({ decision: "block", policy: "guard", reason })
