import { OrangeboxError } from "@orangebox/contract"
import { type ContextFault, contextFault } from "./fault.js"

/** The last calls of an agent, as a value. */
export interface LoopGuard {
  /** How often the same call may be made within the window. */
  readonly threshold: number
  /** How many calls are looked back at. More than one threshold, because agents also circle through two or three calls. */
  readonly window: number
  readonly recent: readonly string[]
}

export interface LoopVerdict {
  /** `stop` and `overridden` both mean that the threshold is exceeded; only the second lets the call go on. */
  readonly verdict: "go" | "stop" | "overridden"
  /** How often the call was made within the window, this one included. */
  readonly repeats: number
  readonly fault?: ContextFault
  readonly guard: LoopGuard
}

export function startLoopGuard(policy: { readonly threshold?: number; readonly window?: number } = {}): LoopGuard {
  const threshold = policy.threshold ?? 3
  const window = policy.window ?? threshold * 4
  for (const [field, value] of Object.entries({ threshold, window })) {
    if (!Number.isSafeInteger(value) || value < 1) throw wrong(field, `is ${String(value)}, not a count from 1`)
  }
  if (window <= threshold) throw wrong("window", `of ${window} can never hold more than ${threshold} calls`)
  return { threshold, window, recent: [] }
}

/**
 * Takes one more call into account. `signature` is whatever makes two calls the same: the recorded call signature, or that and the result
 * where polling is normal. Exceeding the threshold is a fault, whether the call is stopped or let through by an override.
 */
export function observeCall(guard: LoopGuard, signature: string, override = false): LoopVerdict {
  const recent = [...guard.recent, signature].slice(-guard.window)
  const repeats = recent.filter((one) => one === signature).length
  const next = { ...guard, recent }
  if (repeats <= guard.threshold) return { verdict: "go", repeats, guard: next }
  const verdict = override ? "overridden" : "stop"
  const detail = `call repeated ${repeats} times in the last ${recent.length}, ${guard.threshold} allowed: ${verdict}`
  return { verdict, repeats, fault: contextFault("loop_guard_override", detail), guard: next }
}

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

const wrong = (field: string, why: string): OrangeboxError =>
  new OrangeboxError("CONTEXT_LOOP_GUARD", { what: `${field} ${why}`, where: field })
