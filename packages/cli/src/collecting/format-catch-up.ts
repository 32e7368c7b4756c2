import type { CatchUpReport } from "@orangebox/collector"
import type { RebuildReport } from "@orangebox/store"
import { formatBytes, plural, recordedWord, snakeJson } from "@orangebox/text"
import { holderJson } from "../json-shapes.js"
import { pasteable } from "../next-command.js"
import type { GlobalOptions } from "../session.js"

export function catchUpText(report: CatchUpReport, options: GlobalOptions): string {
  const lines = [
    `${plural(report.events, "new event")} and ${plural(report.newBodies, "new body", "new bodies")} (${formatBytes(report.newBodyBytes)}) from ${plural(report.filesRead, "journal file")}`,
  ]
  for (const runId of report.crashedRuns)
    lines.push(`✗ ${recordedWord(runId, 40)} was left open by a process that is gone`)
  if (report.gaps > 0) lines.push(`! ${plural(report.gaps, "gap")} on record`)
  if (report.problems > 0)
    lines.push(
      `! ${plural(report.problems, "problem")} in the journals: orangebox collect ${pasteable(options, "--status")}`,
    )
  if (report.conflicts > 0)
    lines.push(
      `! ${plural(report.conflicts, "conflict")}: ${["orangebox verify", pasteable(options, "")].join(" ").trim()}`,
    )
  return lines.join("\n")
}

export function catchUpJson(report: CatchUpReport) {
  const { commits: _, heldBy, failure, setAside, isReadOnly: _disk, ...counts } = report
  return {
    ...snakeJson(counts),
    held_by: holderJson(heldBy),
    failure: failure ? { code: failure.code, what: failure.what } : null,
    set_aside: setAside ?? null,
  }
}

export const rebuildText = ({ runs, steps, events, texts }: RebuildReport): string =>
  `derived ${plural(runs, "run")}, ${plural(steps, "step")} and ${plural(texts, "searchable text")} again from ${plural(events, "event")}`
