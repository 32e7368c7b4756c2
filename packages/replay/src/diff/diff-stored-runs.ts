import { diffRuns } from "./diff-runs.js"
import type { RunDiff } from "./run-diff.js"
import type { BodyReading, DiffOptions, RunToDiff } from "./run-to-diff.js"

/** A run whose bodies have to be fetched. */
export interface StoredRun {
  readonly events: RunToDiff["events"]
  body(ref: string): Promise<BodyReading>
}

/** Aligning, then comparing payloads, then what those lead to; more rounds than this would be a mistake of ours. */
const MAX_ROUNDS = 8

/**
 * The same for runs in a store. The diff itself stays a pure function: it runs over what is there, says what it missed, and runs again
 * with it. Only bodies it asks for are read, which for related runs are few.
 */
export async function diffStoredRuns(a: StoredRun, b: StoredRun, options: DiffOptions = {}): Promise<RunDiff> {
  const known = new Map<string, BodyReading>()
  const wanted = new Set<string>()
  // A ref names the same bytes on either side.
  const body = (ref: string): BodyReading => {
    const found = known.get(ref)
    if (found === undefined) wanted.add(ref)
    return found ?? NOT_FETCHED
  }
  const again = (): RunDiff => diffRuns({ events: a.events, body }, { events: b.events, body }, options)
  let diff = again()
  for (let round = 1; round < MAX_ROUNDS && wanted.size > 0; round++) {
    for (const ref of wanted) {
      const found = await a.body(ref)
      known.set(ref, found instanceof Uint8Array ? found : await b.body(ref))
    }
    wanted.clear()
    diff = again()
  }
  return diff
}

const NOT_FETCHED: BodyReading = { absent: "unknown" }
