import type { RunDiff } from "../generated.js"
import { comparison } from "./diff-runs.js"
import type { DiffStep } from "./diff-step.js"
import { type BodyReading, type DiffOptions, type RunToDiff, TO_COME } from "./run-to-diff.js"
import type { BodySource } from "./step-reader.js"

/** A run whose bodies have to be fetched. */
export interface StoredRun {
  readonly events: RunToDiff["events"]
  body(ref: string): Promise<BodyReading>
}

/** Aligning, then comparing payloads, then what those lead to; more rounds than this would be a mistake of ours. */
const MAX_ROUNDS = 8

/**
 * The same for runs in a store. The diff itself stays a pure function: it runs over what is there, says what it missed, and runs again
 * with it. Only bodies it asks for are read, which for related runs are few; a request that only has to be signed is not held on to.
 */
export async function diffStoredRuns(a: StoredRun, b: StoredRun, options: DiffOptions = {}): Promise<RunDiff> {
  const known = new Map<string, BodyReading>()
  const wanted = new Set<string>()
  const unsigned = new Set<DiffStep>()
  const bodies: BodySource = {
    body(ref) {
      const found = known.get(ref)
      if (found === undefined) wanted.add(ref)
      return found ?? TO_COME
    },
    isSettled(ref) {
      const isSettled = known.has(ref)
      if (!isSettled) wanted.add(ref)
      return isSettled
    },
    requestToSign(step) {
      const found = known.get(step.inputRef!)
      if (found === undefined) unsigned.add(step)
      return found ?? TO_COME
    },
  }
  // A ref names the same bytes on either side.
  const fetch = async (ref: string): Promise<BodyReading> => {
    const found = await a.body(ref)
    return found instanceof Uint8Array ? found : b.body(ref)
  }
  const { signatures, ...compared } = comparison(a.events, b.events, { a: bodies, b: bodies }, options)
  let diff = compared.diff()
  for (let round = 1; round < MAX_ROUNDS && wanted.size + unsigned.size > 0; round++) {
    for (const ref of wanted) known.set(ref, await fetch(ref))
    wanted.clear()
    for (const step of unsigned) {
      if (signatures.knows(step)) continue
      const found = known.get(step.inputRef!) ?? (await fetch(step.inputRef!))
      if (found instanceof Uint8Array) signatures.learn(step, found)
      else known.set(step.inputRef!, found)
    }
    unsigned.clear()
    diff = compared.diff()
  }
  return diff
}
