import { eventWords } from "@orangebox/query"
import type { GatheredRun, LoadedRun, MissingBody } from "@orangebox/reader"
import { formatBytes, type Painter, plural, recordedWord } from "@orangebox/text"

/** What was written, and what of the run is not in it. */
export interface Exported {
  readonly run: LoadedRun
  readonly gathered: GatheredRun
  /** Null for stdout. */
  readonly file: string | null
  readonly bytes: number
}

export function exportText({ run, gathered, file, bytes }: Exported, next: string, paint: Painter): string {
  const { events, annotations, bodies, runs } = gathered
  const lines = [
    `${recordedWord(run.row.runId, 40)} → ${recordedWord(file ?? "stdout")}`,
    `${eventWords(events.length - annotations, annotations)}${runs > 1 ? ` of ${runs} runs` : ""}, ${plural(bodies.size, "body", "bodies")}, ${formatBytes(bytes)}`,
    `digest ${run.digest}`,
    ...missingWords(run, gathered).map((words) => paint(`! not in the file: ${words}`, "warn")),
  ]
  if (file !== null) lines.push(paint(`next: orangebox show ${next}`, "dim"))
  return lines.join("\n")
}

/** One line for each way in which the file is less than the run. */
function missingWords({ view }: LoadedRun, { missing, unfinished, lostEvents }: GatheredRun): string[] {
  const words = [...byReason(missing)].map(([reason, bodies]) => {
    const sizes = bodies.flatMap(({ byteSize }) => byteSize ?? [])
    const size = sizes.length === 0 ? "" : `, ${formatBytes(sizes.reduce((sum, more) => sum + more, 0))}`
    return `${plural(bodies.length, "body", "bodies")} ${REASONS[reason] ?? reason}${size}`
  })
  if (unfinished > 0) words.push(`the rest of ${plural(unfinished, "answer")} cut off or still arriving`)
  if (lostEvents > 0)
    words.push(`${plural(lostEvents, "event")} lost before ${lostEvents === 1 ? "it was" : "they were"} stored`)
  if (view.status === "running") words.push("what comes after this moment: the run goes on")
  return words
}

const REASONS: Readonly<Record<string, string>> = {
  hashed: "recorded as hashes only",
  not_kept: "not kept when they were recorded",
  pruned: "pruned",
  redacted_later: "redacted later",
  lost: "lost",
  unknown: "never stored here",
}

function byReason(missing: readonly MissingBody[]): ReadonlyMap<string, readonly MissingBody[]> {
  const found = new Map<string, MissingBody[]>()
  for (const body of missing) found.set(body.reason, [...(found.get(body.reason) ?? []), body])
  return found
}

export function exportJson({ run, gathered, file, bytes }: Exported) {
  return {
    run_id: run.row.runId,
    file,
    bytes,
    runs: gathered.runs,
    events: gathered.events.length - gathered.annotations,
    annotations: gathered.annotations,
    bodies: gathered.bodies.size,
    digest: run.digest,
    missing_bodies: gathered.missing.map(({ hash, reason, byteSize, onMs }) => ({
      hash,
      reason,
      byte_size: byteSize,
      on: onMs === null ? null : new Date(onMs).toISOString(),
    })),
    unfinished_bodies: gathered.unfinished,
    lost_events: gathered.lostEvents,
    is_running: run.view.status === "running",
  }
}
