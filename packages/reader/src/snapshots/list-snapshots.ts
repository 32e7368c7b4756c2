import type { FaultTrigger } from "@orangebox/contract"
import type { LoadedRun } from "../run/load-run.js"

/** Bytes that were stored because of a fault, with the five facts every one of them has. */
export interface Snapshot {
  readonly artifactId: string
  readonly kind: "prompt" | "tool_output" | "answer"
  /** The step it was told in, by number; the run itself is #1. Null where that step is not on record. */
  readonly n: number | null
  /** Why it was taken. Null for what a dead process had written ahead: there the fault is the death. */
  readonly trigger: FaultTrigger | null
  readonly path: string
  readonly hash: string
  readonly sizeBytes: number
  /** Of an answer that was still coming: so many more bytes had come, and had not been searched for secrets yet. */
  readonly withheldBytes: number
  readonly createdAt: string
  /** Why the bytes were never kept, where the recording says so. */
  readonly absent: string | null
}

/** What stands behind the folder of all snapshots in the path of one; undefined for a path that leads to none. */
export const placeAmongSnapshots = (path: string | null): string | undefined =>
  path === null ? undefined : /^(?:.*\/)?snapshots\/(.+)$/s.exec(path)?.[1]

/** The snapshots of a run, in the order they were taken: those it took itself, then what was found in its spool. */
export function listSnapshots({ view, events: own, annotations }: LoadedRun): Snapshot[] {
  const events = [...own, ...annotations]
  const triggers = new Map<string, FaultTrigger>()
  for (const event of events) {
    if (event.event_type !== "fault") continue
    for (const id of event.payload.artifact_ids) triggers.set(id, event.payload.trigger)
  }
  const numbers = new Map(view.steps.map(({ id, n }) => [id, n]))
  return events.flatMap((event) => {
    if (event.event_type !== "artifact_recorded") return []
    const { artifact_id, artifact_type, path, hash, size_bytes, withheld_bytes } = event.payload
    const kind = KINDS[artifact_type]
    if (path === null || kind === undefined || placeAmongSnapshots(path) === undefined) return []
    return {
      artifactId: artifact_id,
      kind,
      n: numbers.get(event.step_id ?? "") ?? null,
      trigger: triggers.get(artifact_id) ?? null,
      path,
      hash,
      sizeBytes: size_bytes,
      withheldBytes: withheld_bytes ?? 0,
      createdAt: event.timestamp_utc,
      absent: event.artifact_refs.find(({ artifact_hash }) => artifact_hash === hash)?.absent ?? null,
    }
  })
}

const KINDS: Readonly<Record<string, Snapshot["kind"]>> = {
  prompt_snapshot: "prompt",
  tool_output_snapshot: "tool_output",
  answer_snapshot: "answer",
  // What answers were before schema 1.2.
  other: "answer",
}
