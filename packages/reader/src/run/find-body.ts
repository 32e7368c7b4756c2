import { InputError } from "@orangebox/contract"
import { bodiesOf, type RunView } from "@orangebox/query"
import { isAbsent } from "@orangebox/store"
import { plural, recordedWord, safeJson } from "@orangebox/text"
import { findTarget } from "../address/find-target.js"
import type { RunReader } from "../open/run-reader.js"

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
  if (/^sha256:/i.test(name)) {
    const { id } = await findTarget(store, name)
    return readWhole(store, "body", id)
  }
  const step = view.steps[n - 1]
  const bodies = bodiesOf(step?.events ?? [])
  const body = bodies.find(({ role }) => role === name)
  if (body) return readWhole(store, body.role, body.hash)
  const partial = (await store.partialStreamsOf(view.runId ?? "")).find(
    (stream) => stream.stepId === step?.id && stream.role === name,
  )
  const bytes = partial && (await store.readPartialStream(partial.streamId))
  if (partial && bytes) return { role: partial.role, hash: partial.hash, mime: partial.mime, bytes, isPartial: true }

  const names = [...new Set([...bodies.map(({ role }) => role), ...(step?.partials ?? []).map(({ role }) => role)])]
  throw new InputError("NO_BODY", {
    what: `step #${n} has no body ${safeJson(name)}`,
    next: names.length === 0 ? "It has none" : `It has: ${names.map((role) => recordedWord(role, 40)).join(", ")}`,
  })
}

async function readWhole(store: RunReader, role: string, hash: string): Promise<FoundBody> {
  const reading = await store.readBody(hash)
  if (!isAbsent(reading)) return { role, hash, mime: reading.mime, bytes: reading.bytes, isPartial: false }
  const when = reading.onMs === undefined ? "" : ` on ${new Date(reading.onMs).toISOString().slice(0, 10)}`
  const size = reading.byteSize === undefined ? "" : `, was ${plural(reading.byteSize, "byte")}`
  throw new InputError("BODY_ABSENT", {
    what: `the body is not here: ${reading.absent.replace("_", " ")}${when}${size}`,
    where: hash,
    next: reading.reason,
  })
}
