import type { Resolution, Target } from "./trace-store.js"

const MOST_CANDIDATES = 10

/** What an engine is asked while an id is resolved. Whatever it finds beyond `limit` need not be told. */
export interface IdIndex<Found = Targets> {
  /** Runs and steps with exactly this id, which may be any text: what was recorded is not always what the contract asks for. */
  recordedAs(text: string): Found
  /** Everything with an id that begins with this text. */
  beginningWith(text: string, limit: number): Found
  stepOf(runId: string, no: number): Found
  /** Three of the newest runs that no other run started, canaries aside, from the one with so many before it on. */
  newestRuns(before: number): Found
  /** The moment a run was pruned, in a list of one; empty where it was not. */
  prunedAt(runId: string): Found extends Promise<unknown> ? Promise<readonly number[]> : readonly number[]
}

type Targets = readonly Target[]
// biome-ignore lint/suspicious/noExplicitAny: one runner for an engine that answers at once and one that is waited for
type Look = (index: IdIndex<any>) => any

/** From an id to what it stands for, by an engine that answers at once. */
export function resolveAtOnce(index: IdIndex, input: string): Resolution {
  const deciding = decide(input)
  let next = deciding.next()
  while (!next.done) next = deciding.next(next.value(index))
  return next.value
}

/** The same by an engine that has to be waited for. */
export async function resolveInTime(index: IdIndex<Promise<Targets>>, input: string): Promise<Resolution> {
  const deciding = decide(input)
  let next = deciding.next()
  while (!next.done) next = deciding.next(await next.value(index))
  return next.value
}

/**
 * From whatever id the caller has to the place it stands for. A whole id or a prefix that only one thing has; `last` is the
 * newest run that is no canary and that no other run started, and `last~1` the one before, as version control counts; `<run>#<n>` is a step by its number.
 * What it must know it asks for by yielding the question, so that it need not know how long an engine takes to answer.
 */
function* decide(input: string): Generator<Look, Resolution, Targets & readonly number[]> {
  const text = input.trim()
  const recorded: Targets = isOurWord(text) ? [] : yield (index) => index.recordedAs(text)
  if (recorded.length === 1) return { found: "one", target: recorded[0]! }
  const address = /^(.*)#(\d+)$/s.exec(text)
  if (address && /^(?:last(?:~\d+)?|run_.*)?$/s.test(address[1]!)) {
    return yield* decideStep(address[1]!, Number(address[2]))
  }
  if (text === "") return { found: "none", nearest: yield newest(0) }
  const [last, back = "0"] = /^last(?:~(\d{1,9}))?$/.exec(text) ?? []
  if (last !== undefined) {
    const [target]: Targets = yield newest(Number(back))
    return target === undefined ? { found: "none", nearest: yield newest(0) } : { found: "one", target }
  }
  const candidates: Targets = yield beginning(text)
  const exact = candidates.filter(({ id }) => id === text || id === `sha256:${text}` || id === `run_${text}`)
  const found = exact.length > 0 ? preferred(exact) : candidates
  if (found.length === 1) return { found: "one", target: found[0]! }
  if (found.length > 1) return { found: "many", candidates: found.slice(0, MOST_CANDIDATES), total: found.length }
  // Ids that others choose may hold a #; only what is no such id is the step of a run.
  if (address) return yield* decideStep(address[1]!, Number(address[2]))
  const [onMs]: readonly number[] = yield (index) => index.prunedAt(text)
  return { found: "none", nearest: yield* nearest(text), ...(onMs === undefined ? {} : { pruned: { onMs } }) }
}

const newest =
  (before: number): Look =>
  (index) =>
    index.newestRuns(before)

const beginning =
  (text: string): Look =>
  (index) =>
    index.beginningWith(text, MOST_CANDIDATES + 1)

/** `last`, `last~1`, `#13`, `last#13`: whatever ids hold, these never mean one. */
const isOurWord = (text: string): boolean => /^(?:last(?:~\d+)?)?(?:#\d+)?$/.test(text)

/** The same tool call stands on its call and its result: one step, one answer. */
function preferred(targets: Targets): Target[] {
  const seen = new Map<string, Target>()
  for (const target of targets) {
    const place = `${target.kind} ${target.runId} ${target.stepId}`
    if (!seen.has(place)) seen.set(place, target)
  }
  return [...seen.values()]
}

function* decideStep(run: string, no: number): Generator<Look, Resolution, Targets & readonly number[]> {
  const resolution = yield* decide(run === "" ? "last" : run)
  if (resolution.found !== "one") return resolution
  const { target } = resolution
  if (target.kind !== "run") return { found: "none", nearest: [target] }
  const [step]: Targets = yield (index) => index.stepOf(target.id, no)
  return step === undefined ? { found: "none", nearest: [target] } : { found: "one", target: step }
}

/** Ids of the same kind that share the longest beginning with what was asked. */
function* nearest(text: string): Generator<Look, Targets, Targets & readonly number[]> {
  for (let length = text.length - 1; length >= 6; length--) {
    const found: Targets = yield beginning(text.slice(0, length))
    if (found.length > 0) return found.slice(0, 3)
  }
  return yield newest(0)
}

/** The smallest and largest id that begin with these hex digits; undefined where they are none, or too few. */
export function hexRange(text: string, digits: number): [string, string] | undefined {
  if (text.length < 4 || text.length > digits || !/^[0-9a-f]+$/.test(text)) return undefined
  return [text.padEnd(digits, "0"), text.padEnd(digits, "f")]
}
