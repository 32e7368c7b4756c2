import { copyToCluster, migrateCluster } from "@orangebox/reader"
import { plural, safeJson, snakeJson } from "@orangebox/text"
import type { Command } from "commander"
import { EXIT, type ExitCode } from "../exit-code.js"
import { withReader } from "../reading.js"
import { bindShell, type GlobalOptions, prose, type Session, wrongUsage } from "../session.js"

export function define(command: Command, session: Session): void {
  command
    .description(
      "A ClickHouse as the store of many machines: make its tables, or copy this data folder's own store there.",
    )
    .argument("<what>", "migrate or copy")
    .addHelpText(
      "after",
      prose(
        session,
        "Which ClickHouse says the setting store of your configuration (docs/fleet.md). migrate may run again and again; copy reads back what it wrote, and only when all of it is there does the data folder belong to the cluster.",
      ),
    )
  bindShell(command, session, store, [
    ["orangebox store migrate", "make the database and its tables, or bring them to this version"],
    ["orangebox store copy", "take what was recorded here so far along"],
  ])
}

async function store(session: Session, options: GlobalOptions, what = ""): Promise<ExitCode> {
  if (what === "migrate") return migrate(session, options)
  if (what === "copy") return copy(session, options)
  throw wrongUsage(`there is no orangebox store ${what}`, "Say migrate or copy")
}

async function migrate({ terminal }: Session, { json, data }: GlobalOptions): Promise<ExitCode> {
  const { from, to, url, database } = await migrateCluster({ data })
  const text = from === to ? `schema ${to}, as it was` : from === 0 ? `made, schema ${to}` : `schema ${from} → ${to}`
  terminal.out(json ? safeJson({ from, to, url, database }, 2) : `${url} (database ${database}): ${text}`)
  return EXIT.fine
}

async function copy(session: Session, options: GlobalOptions): Promise<ExitCode> {
  const report = await withReader(session, options, copyToCluster)
  const { runs, runsThere, events, bodies, different, setAside } = report
  const copied = `${plural(runs, "run")}, ${plural(events, "event")}, ${bodies} bodies${runsThere > 0 ? `; ${plural(runsThere, "run")} there already` : ""}`
  const end =
    setAside === null
      ? `${plural(different.length, "run")} could not be proven to be there whole: ${different.slice(0, 5).join(", ")}. The data folder stays as it was`
      : `all of it read back and the same. The data folder belongs to the cluster now; its own store is ${setAside}`
  session.terminal.out(options.json ? safeJson(snakeJson(report), 2) : `${copied}\n${end}`)
  return setAside === null ? EXIT.findings : EXIT.fine
}
