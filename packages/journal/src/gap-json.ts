import type { Gap } from "./line-format.js"

/** A gap as it stands in a journal line and in the reserve file. Its inverse is in `line-decoder.ts`. */
export function gapToJson(gap: Gap): Record<string, unknown> {
  return {
    gap_no: gap.gapNo,
    reason: gap.reason,
    failure: gap.failure,
    from_ms: gap.fromMs,
    to_ms: gap.toMs,
    records: gap.records,
    chunks: gap.chunks,
    bytes: gap.bytes,
    runs: gap.runs.map((run) => ({
      run_id: run.runId,
      first_sequence_no: run.firstSequenceNo,
      last_sequence_no: run.lastSequenceNo,
      count: run.count,
    })),
    records_not_listed: gap.recordsNotListed,
    files: gap.files,
    files_not_listed: gap.filesNotListed,
  }
}
