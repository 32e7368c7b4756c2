import type { Gap } from "./trace-store.js"

/** The code of the gap in a run whose end may stand in a line of its journal that cannot be read. */
export const END_IN_DOUBT = "end_in_doubt"

/** What a reader of journals calls a place that held a line. A torn last line was never acknowledged and is no such place. */
export const DAMAGED_LINE_CODES: readonly string[] = [
  "corrupt_line",
  "nul_run",
  "over_long_line",
  "truncated",
  "unknown_line",
]

/** The gap of a run without an end, whose journal has so many damaged lines and whose process's runs miss so many events inside. */
export function endInDoubt(runId: string, damagedLines: number, missingInside: number): Gap[] {
  const left = damagedLines - missingInside
  if (damagedLines === 0 || left <= 0) return []
  const lines = left === 1 ? "a damaged line of its journal" : `one of ${left} damaged lines of its journal`
  return [{ code: END_IN_DOUBT, reason: `its end may be in ${lines}`, runIds: [runId] }]
}
