import type { RunDiff } from "../generated.js"
import { comparison } from "./diff-runs.js"
import type { DiffStep } from "./diff-step.js"
import { type BodyReading, type DiffOptions, type RunToDiff, TO_COME } from "./run-to-diff.js"
import type { BodySource } from "./step-reader.js"

/** A run whose bodies have to be fetched. */
export interface StoredRun extends Omit<RunToDiff, "body"> {
  body(ref: string): Promise<BodyReading>
}

/** A ref names the same bytes on either side; why they are not there is the run's own to say. */
interface Fetched {
  readonly a: BodyReading
  readonly b: BodyReading
}

/** Aligning, then comparing payloads, then what those lead to; more rounds than this would be a mistake of ours. */
const MAX_ROUNDS = 8

/**
 * The same for runs in a store. The diff itself stays a pure function: it runs over what is there, says what it missed, and runs again
 * with it. Only bodies it asks for are read, which for related runs are few; a request that only has to be signed is not held on to.
 */
export async function diffStoredRuns(a: StoredRun, b: StoredRun, options: DiffOptions = {}): Promise<RunDiff> {
  const known = new Map<string, Fetched>()
  const wanted = new Set<string>()
  const unsigned = new Set<DiffStep>()
  const isSettled = (ref: string): boolean => {
    if (!known.has(ref)) wanted.add(ref)
    return known.has(ref)
  }
  const bodiesOf = (side: keyof Fetched): BodySource => ({
    isSettled,
    body: (ref) => (isSettled(ref) ? known.get(ref)![side] : TO_COME),
    requestToSign(step) {
      const found = known.get(step.inputRef!)
      if (found === undefined) unsigned.add(step)
      return found?.[side] ?? TO_COME
    },
  })
  const fetch = async (ref: string): Promise<Fetched> => {
    const ofA = await a.body(ref)
    const ofB = ofA instanceof Uint8Array ? ofA : await b.body(ref)
    return { a: ofB instanceof Uint8Array ? ofB : ofA, b: ofB }
  }
  const sources = { a: bodiesOf("a"), b: bodiesOf("b") }
  const { signatures, ...compared } = comparison(a, b, sources, options)
  let diff = compared.diff()
  for (let round = 1; round < MAX_ROUNDS && wanted.size + unsigned.size > 0; round++) {
    for (const ref of wanted) known.set(ref, await fetch(ref))
    wanted.clear()
    for (const step of unsigned) {
      if (signatures.knows(step)) continue
      const found = known.get(step.inputRef!) ?? (await fetch(step.inputRef!))
      if (found.a instanceof Uint8Array) signatures.learn(step, found.a)
      else known.set(step.inputRef!, found)
    }
    unsigned.clear()
    diff = compared.diff()
  }
  return diff
}
