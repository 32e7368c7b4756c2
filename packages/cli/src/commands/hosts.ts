import type { HostRow } from "@orangebox/store"
import { formatBytes, formatMoment, formatTable, safeJson, snakeJson } from "@orangebox/text"
import type { Command } from "commander"
import { EXIT, type ExitCode } from "../exit-code.js"
import { withReading } from "../reading.js"
import { bindShell, type GlobalOptions, type Session } from "../session.js"

export function define(command: Command, session: Session): void {
  command.description("The machines that collect into this store, when each last wrote, and how far behind it was.")
  bindShell(command, session, hosts, [
    ["orangebox hosts", "who is silent?"],
    ["orangebox runs --host build-7", "the runs of one of them"],
  ])
}

async function hosts(session: Session, options: GlobalOptions): Promise<ExitCode> {
  const rows = await withReading(session, options, ({ store }) => store.hosts())
  session.terminal.out(options.json ? safeJson({ hosts: snakeJson(rows) }, 2) : textOf(rows, Date.now()))
  return EXIT.fine
}

function textOf(rows: readonly HostRow[], nowMs: number): string {
  if (rows.length === 0) return "this store is the data folder's own: no other machine writes to it (docs/fleet.md)"
  return formatTable(
    [
      { title: "HOST" },
      { title: "COLLECTOR" },
      { title: "LAST SEEN" },
      { title: "BEHIND", align: "right" },
      { title: "RUNS", align: "right" },
    ],
    rows.map((row) => [
      row.isSelf ? `${row.host} (this one)` : row.host,
      row.collectorId,
      `${formatMoment(row.lastSeenAtMs)}${nowMs - row.lastSeenAtMs > SILENT_MS ? ", silent since" : ""}`,
      row.behindBytes === null ? "?" : formatBytes(row.behindBytes),
      String(row.runs),
    ]),
  )
}

/** A collector that watches tells of itself every half minute. */
const SILENT_MS = 5 * 60_000
