import { InputError } from "@orangebox/contract"
import { bodiesOf, type RunView, type StepView } from "@orangebox/query"
import { isAbsent, type PartialStream } from "@orangebox/store"
import { plural, recordedWord, safeJson } from "@orangebox/text"
import { findTarget } from "../address/find-target.js"
import type { RunReader } from "../open/run-reader.js"
import { absenceOf } from "./body-absence.js"

export interface FoundBody {
  readonly role: string
  /** Null for a stream that has no end. */
  readonly hash: string | null
  readonly mime: string | null
  readonly bytes: Uint8Array
  /** What had arrived of a body whose writer was cut off or is still writing. */
  readonly isPartial: boolean
}

/** A body of step n by the name of its role, or any body by its hash. */
export async function findBody(store: RunReader, view: RunView, n: number, name: string): Promise<FoundBody> {
  const step = view.steps[n - 1]
  const bodies = bodiesOf(step?.events ?? [])
  const body = bodies.find(({ role, hash }) => role === name || hash === name)
  if (body) return readBodyWhole(store, body.role, body.hash, body)
  if (/^sha256:/i.test(name)) {
    const { id } = await findTarget(store, name)
    return readBodyWhole(store, "body", id)
  }
  const partial = step && (await partialStreamsOf(store, view, step)).find((stream) => stream.role === name)
  const bytes = partial && (await store.readPartialStream(partial.streamId))
  if (partial && bytes) return { role: partial.role, hash: partial.hash, mime: partial.mime, bytes, isPartial: true }

  const names = [...new Set([...bodies.map(({ role }) => role), ...(step?.partials ?? []).map(({ role }) => role)])]
  throw new InputError("NO_BODY", {
    what: `step #${n} has no body ${safeJson(name)}`,
    next: names.length === 0 ? "It has none" : `It has: ${names.map((role) => recordedWord(role, 40)).join(", ")}`,
  })
}

/** What had come of the step's bodies, or of those of its open try. */
export async function partialStreamsOf(
  store: RunReader,
  { runId }: RunView,
  { partials }: StepView,
): Promise<readonly PartialStream[]> {
  if (partials.length === 0) return []
  return (await store.partialStreamsOf(runId ?? "")).filter((stream) =>
    partials.some(({ stepId }) => stepId === stream.stepId),
  )
}

/**
 * A body that is there, whole; else why it is not.
 *
 * @param named what the event says that names it: a body that never came into the store is known by that alone
 */
export async function readBodyWhole(
  store: RunReader,
  role: string,
  hash: string,
  named?: ReturnType<typeof bodiesOf>[number],
): Promise<FoundBody> {
  const reading = await store.readBody(hash)
  if (!isAbsent(reading)) return { role, hash, mime: reading.mime, bytes: reading.bytes, isPartial: false }
  const when = reading.onMs === undefined ? "" : ` on ${new Date(reading.onMs).toISOString().slice(0, 10)}`
  const byteSize = reading.byteSize ?? named?.byteSize
  const size = byteSize === undefined ? "" : `, was ${plural(byteSize, "byte")}`
  const { word, reason } = absenceOf(named?.absent, reading)
  throw new InputError("BODY_ABSENT", {
    what: `the body is not here: ${word}${when}${size}`,
    where: hash,
    next: reason,
  })
}
