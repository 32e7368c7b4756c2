import { derivedEventId } from "../ids.js"
import { UPGRADED_VERSION } from "../version.js"

/**
 * Schema 1.0 had no `event_id`, `mono_us` and `source`. Readers rely on the three, so they are derived, always to the same value:
 * the id from the run and the sequence number, the monotonic time from the wall clock, the source from the component that emitted it.
 */
export function upgradeFrom10(old: Record<string, unknown>): Record<string, unknown> {
  const atMs = Date.parse(String(old["timestamp_utc"]))
  const knownMs = Number.isFinite(atMs) && atMs > 0 ? atMs : 0
  return {
    ...old,
    schema_version: UPGRADED_VERSION,
    event_id: derivedEventId(knownMs, `obx-v1.0\0${String(old["run_id"])}\0${String(old["sequence_no"])}`),
    mono_us: knownMs * 1000,
    source: String(old["actor_type"]),
  }
}
