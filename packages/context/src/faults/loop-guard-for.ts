import type { ContextFault } from "./fault.js"
import { type LoopGuard, observeCall, startLoopGuard } from "./loop-guard.js"

/** What of a call the guard looks at. */
export interface GuardableCall {
  readonly signature: string
  readonly step: { readonly runId: string }
}

export interface LoopGuardPolicy<Call extends GuardableCall> {
  /** How often the same call may be made within the window. Default 3. */
  readonly threshold?: number
  /** How many calls of a run are looked back at. Default four times the threshold. */
  readonly window?: number
  /** Lets a repeated call through all the same. It is a fault either way. */
  readonly override?: boolean | ((call: Call) => boolean)
}

export interface LoopGuardVerdict {
  readonly decision: "block" | "warn"
  readonly policy: string
  readonly version: string
  readonly reason: string
  readonly fault: ContextFault
}

/**
 * The loop guard in the form a recorder takes: it counts the calls of each run, blocks one that is made too often (or lets it through with a
 * warning, where that is the policy), and raises the fault in both cases.
 *
 *     Recorder.open({ app: "fixer", guard: loopGuardFor({ threshold: 3 }) })
 */
export function loopGuardFor<Call extends GuardableCall = GuardableCall>(
  policy: LoopGuardPolicy<Call> = {},
): (call: Call) => LoopGuardVerdict | undefined {
  const { override = false, ...limits } = policy
  const fresh = startLoopGuard(limits)
  const guards = new Map<string, LoopGuard>()
  return (call) => {
    const { runId } = call.step
    const isOverridden = typeof override === "function" ? override(call) : override
    const { guard, fault } = observeCall(guards.get(runId) ?? fresh, call.signature, isOverridden)
    // Taken out and put back, so that the runs that have not called for the longest time come first and are let go.
    guards.delete(runId)
    guards.set(runId, guard)
    if (guards.size > MOST_RUNS) guards.delete(guards.keys().next().value!)
    if (fault === undefined) return undefined
    const decision = isOverridden ? "warn" : "block"
    return { decision, policy: "loop-guard", version: "1", reason: fault.detail, fault }
  }
}

const MOST_RUNS = 1000
