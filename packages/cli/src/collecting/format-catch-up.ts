import type { CatchUpReport } from "@orangebox/collector"
import type { RebuildReport } from "@orangebox/store"
import { formatBytes, plural, recordedWord } from "@orangebox/text"
import { holderJson } from "../json-shapes.js"

export function catchUpText(report: CatchUpReport): string {
  const lines = [
    `${plural(report.events, "new event")} and ${plural(report.newBodies, "new body", "new bodies")} (${formatBytes(report.newBodyBytes)}) from ${plural(report.filesRead, "journal file")}`,
  ]
  for (const runId of report.crashedRuns)
    lines.push(`✗ ${recordedWord(runId, 40)} was left open by a process that is gone`)
  if (report.gaps > 0) lines.push(`! ${plural(report.gaps, "gap")} on record`)
  if (report.problems > 0)
    lines.push(`! ${plural(report.problems, "problem")} in the journals: orangebox collect --status`)
  if (report.conflicts > 0) lines.push(`! ${plural(report.conflicts, "conflict")}: orangebox verify`)
  return lines.join("\n")
}

export function catchUpJson(report: CatchUpReport) {
  return {
    events: report.events,
    duplicates: report.duplicates,
    conflicts: report.conflicts,
    buried: report.buried,
    new_bodies: report.newBodies,
    new_body_bytes: report.newBodyBytes,
    gaps: report.gaps,
    problems: report.problems,
    files_read: report.filesRead,
    files_removed: report.filesRemoved,
    files_deferred: report.filesDeferred,
    crashed_runs: report.crashedRuns,
    behind_bytes: report.behindBytes,
    held_by: holderJson(report.heldBy),
    failure: report.failure ? { code: report.failure.code, what: report.failure.what } : null,
    set_aside: report.setAside ?? null,
  }
}

export const rebuildText = ({ runs, steps, events, texts }: RebuildReport): string =>
  `derived ${plural(runs, "run")}, ${plural(steps, "step")} and ${plural(texts, "searchable text")} again from ${plural(events, "event")}`
