import type { RedactStoreReport } from "@orangebox/reader"
import { formatBytes, formatCount, type Painter, plural, safeLine } from "@orangebox/text"

export function reportText(report: RedactStoreReport, isDryRun: boolean, paint: Painter): string {
  const { events, eventsSeen, bodies, bodiesSeen, bodyBytes, runIds, journalsRemoved, otherTexts, notReached } = report
  const lines = [
    `${isDryRun ? "would redact" : "redacted"} ${plural(events, "event")} of ${formatCount(eventsSeen)} and ${plural(bodies, "body", "bodies")} of ${formatCount(bodiesSeen)} (${formatBytes(bodyBytes)}) in ${plural(runIds.length, "run")}`,
  ]
  if (otherTexts > 0)
    lines.push(`${plural(otherTexts, "other text")}: names in sums, conflicts, gaps, problems, processes`)
  if (!isDryRun)
    lines.push(`${plural(journalsRemoved, "finished journal")} removed; everything in them is in the store`)
  for (const { what, where, reason } of notReached) {
    lines.push(paint(`✗ not reached: ${what} ${safeLine(where)}: ${safeLine(reason)}`, "bad"))
  }
  lines.push("Not looked at: exported files, backups and copies, other data folders, terminals and logs of others.")
  if (!isDryRun && events > 0) {
    lines.push("Digests that these runs printed before no longer hold, nor do certificates; verify says so.")
  }
  return lines.join("\n")
}

export function reportJson(report: RedactStoreReport, isDryRun: boolean) {
  return {
    dry_run: isDryRun,
    events: report.events,
    events_seen: report.eventsSeen,
    bodies: report.bodies,
    bodies_seen: report.bodiesSeen,
    body_bytes: report.bodyBytes,
    other_texts: report.otherTexts,
    run_ids: report.runIds,
    journals_removed: report.journalsRemoved,
    not_reached: report.notReached,
  }
}
