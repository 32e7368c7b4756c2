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

const wrong = (field: string, why: string): OrangeboxError =>
  new OrangeboxError("CONTEXT_LOOP_GUARD", { what: `${field} ${why}`, where: field })
