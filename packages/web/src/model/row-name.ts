import { formatDuration, formatPercent } from "@orangebox/text"
import type { ShownRow } from "./fold.js"
import { LANE } from "./run-rows.js"
import { safeWords } from "./visible-text.js"

/** A row as a sentence, for those who hear it: "step 11, tool run_tests, failed, exit 1, 0.6s". */
export function rowName({ row, isFolded, hidden, worst }: ShownRow, words: string | null): string {
  const cached =
    row.cacheRead === null || row.tokensIn === null ? null : `${formatPercent(row.cacheRead, row.tokensIn)} cached`
  const tokens =
    row.kind !== "model" ? null : `${row.tokensIn ?? "unknown"} tokens in, ${row.tokensOut ?? "unknown"} out`
  const parts = [
    row.kind === LANE ? null : `step ${row.n}`,
    row.kind === row.name || row.name === "" ? row.kind : `${row.kind} ${safeWords(row.name)}`,
    statusWord(row.status),
    words === null ? null : safeWords(words),
    tokens,
    cached,
    row.durationMicros === null ? null : formatDuration(row.durationMicros),
    isFolded ? `folded, hides ${hidden} ${hidden === 1 ? "step" : "steps"}` : null,
    isFolded && worst !== row.status ? `worst of them ${statusWord(worst) ?? worst}` : null,
  ]
  return parts.filter((part) => part !== null && part !== "").join(", ")
}

/** A status that is worth a word; success goes without saying. */
export function statusWord(status: string): string | null {
  if (status === "success" || status === "completed") return null
  return status === "error" ? "failed" : status
}
