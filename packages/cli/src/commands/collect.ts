import {
  type CatchUpReport,
  type CollectorStatus,
  collectorStatus,
  rebuildStore,
  type WatchStatus,
  watch,
} from "@orangebox/collector"
import { formatBytes, formatTable, plural, recordedText, recordedWord, safeJson } from "@orangebox/query"
import type { RebuildReport } from "@orangebox/store"
import type { Command } from "commander"
import { EXIT, type ExitCode } from "../exit-code.js"
import { InputError } from "../failure.js"
import { holderJson, problemJson } from "../json-shapes.js"
import { locateData } from "../reading/locate-data.js"
import { catchUpStore, holderWords } from "../reading/open-reading.js"
import { examples, type GlobalOptions, type Session, shellOf } from "../session.js"
import { whileNotInterrupted } from "../while-not-interrupted.js"

interface CollectOptions {
  readonly watch?: boolean
  readonly rebuild?: boolean
  readonly status?: boolean
}

export function define(command: Command, session: Session): void {
  command
    .description("Bring the store up to the journals. Reading commands do it by themselves; this one says what it did.")
    .option("--watch", "keep the store up until Ctrl-C, and prune now and then")
    .option("--rebuild", "derive runs, steps, sums and the search index again from the stored events")
    .option("--status", "how far behind the store is and who is at work; changes nothing")
    .addHelpText(
      "after",
      examples([
        ["orangebox collect", "once"],
        ["orangebox collect --watch", "as a service; one per store"],
        ["orangebox collect --status", "is anything stuck?"],
      ]),
    )
    .action(shellOf<CollectOptions>(session, collect))
}

async function collect(session: Session, options: CollectOptions & GlobalOptions): Promise<ExitCode> {
  if ([options.watch, options.rebuild, options.status].filter(Boolean).length > 1) {
    throw new InputError("USAGE", { what: "--watch, --rebuild and --status exclude each other", next: "Choose one" })
  }
  const { path } = locateData(options.data)
  if (options.status) return showStatus(session, options, path)
  if (options.watch) return watchFolder(session, options, path)
  if (options.rebuild) return rebuild(session, options, path)
  const report = await catchUpStore(path, session.terminal)
  session.terminal.out(options.json ? safeJson(catchUpJson(report), 2) : catchUpText(report))
  return report.failure ? EXIT.systemError : EXIT.fine
}

async function showStatus({ terminal }: Session, { json }: GlobalOptions, path: string): Promise<ExitCode> {
  const status = await collectorStatus(path)
  terminal.out(json ? safeJson(statusJson(status), 2) : statusText(status))
  return EXIT.fine
}

async function watchFolder({ terminal }: Session, { json }: GlobalOptions, dataFolder: string): Promise<ExitCode> {
  if (!json) terminal.say(`watching ${dataFolder}; stop with Ctrl-C`)
  await whileNotInterrupted((signal) =>
    watch({
      dataFolder,
      signal,
      onStatus: (status) => {
        if (json) terminal.out(safeJson(watchJson(status)))
        else terminal.say(watchText(status))
      },
    }),
  )
  return EXIT.fine
}

async function rebuild({ terminal }: Session, { json }: GlobalOptions, dataFolder: string): Promise<ExitCode> {
  const bar = terminal.progress("rebuilding")
  try {
    const { rebuilt } = await rebuildStore({ dataFolder, onProgress: bar.update })
    bar.clear()
    terminal.out(json ? safeJson(rebuilt, 2) : rebuildText(rebuilt))
    return EXIT.fine
  } finally {
    bar.clear()
  }
}

function catchUpText(report: CatchUpReport): string {
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

function catchUpJson(report: CatchUpReport) {
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

const rebuildText = ({ runs, steps, events, texts }: RebuildReport): string =>
  `derived ${plural(runs, "run")}, ${plural(steps, "step")} and ${plural(texts, "searchable text")} again from ${plural(events, "event")}`

function watchText(status: WatchStatus): string {
  switch (status.kind) {
    case "waiting":
      return `waiting: ${status.heldBy ? holderWords(status.heldBy) : "another process"} is collecting`
    case "opened":
      return status.setAside
        ? `the database was damaged (${status.setAside.reason}) and is now ${status.setAside.path}`
        : "the store is open"
    case "collected":
      return `${plural(status.report.events, "event")}${status.report.crashedRuns.length > 0 ? `, crashed: ${status.report.crashedRuns.join(", ")}` : ""}`
    case "failing":
      return `the store takes nothing: ${status.failure.message}; next try in ${Math.round(status.retryInMs / 1000)} s`
    case "pruned":
      return `pruned ${plural(status.report.runsPruned, "run")}, ${plural(status.report.bodiesPruned, "body", "bodies")}`
  }
}

/** One line of JSON for each thing that happens. */
function watchJson(status: WatchStatus) {
  switch (status.kind) {
    case "waiting":
      return { kind: status.kind, held_by: holderJson(status.heldBy) }
    case "opened":
      return { kind: status.kind, is_fresh: status.isFresh, set_aside: status.setAside ?? null }
    case "collected":
      return { kind: status.kind, events: status.report.events, crashed_runs: status.report.crashedRuns }
    case "failing":
      return { kind: status.kind, code: status.failure.code, what: status.failure.what, retry_in_ms: status.retryInMs }
    case "pruned":
      return { kind: status.kind, runs_pruned: status.report.runsPruned, bodies_pruned: status.report.bodiesPruned }
  }
}

function statusText(status: CollectorStatus): string {
  const { store, lockHolder } = status
  const lag = `${status.isLagExact ? "" : "about "}${plural(status.lagRecords, "record")} (${formatBytes(status.lagBytes)})`
  const facts = [
    ["behind", status.lagBytes === 0 ? "nothing" : lag],
    [
      "collector",
      lockHolder ? `${holderWords(lockHolder)}, since ${new Date(lockHolder.sinceMs).toISOString()}` : "none at work",
    ],
    [
      "journals",
      `${plural(status.files, "file")}, ${formatBytes(status.fileBytes)}; ${status.committedFiles} wholly in the store`,
    ],
    [
      "store",
      store
        ? `${plural(store.runs, "run")}, ${plural(store.events, "event")}, schema ${store.schemaVersion}, ${store.engine}`
        : "none yet",
    ],
    ...(store
      ? [
          [
            "on disk",
            `database ${formatBytes(store.databaseBytes + store.walBytes)}, bodies ${formatBytes(store.bodyBytesOnDisk)} for ${formatBytes(store.bodyBytes)} recorded`,
          ],
        ]
      : []),
    ["writers", writerWords(status)],
  ]
  const lines = [formatTable([{ title: "" }, { title: "" }], facts).trimStart()]
  for (const { code, file, offset, reason } of status.problems.slice(0, MOST_PROBLEMS)) {
    lines.push(
      `! ${code} ${file === undefined ? "" : `${recordedWord(file, 80)}:${offset ?? 0} `}${recordedText(reason, 160)}`,
    )
  }
  if (status.problems.length > MOST_PROBLEMS)
    lines.push(`! ${MOST_PROBLEMS} of ${status.problems.length} problems shown; see --json`)
  return lines.join("\n")
}

const MOST_PROBLEMS = 10

function writerWords({ writers }: CollectorStatus): string {
  const counts = new Map<string, number>()
  for (const { state } of writers) counts.set(state, (counts.get(state) ?? 0) + 1)
  return counts.size === 0 ? "none seen" : [...counts].map(([state, count]) => `${count} ${state}`).join(", ")
}

function statusJson(status: CollectorStatus) {
  const { store } = status
  return {
    lag_bytes: status.lagBytes,
    lag_records: status.lagRecords,
    is_lag_exact: status.isLagExact,
    files: status.files,
    file_bytes: status.fileBytes,
    committed_files: status.committedFiles,
    held_by: holderJson(status.lockHolder),
    writers: status.writers.map(({ writerId, state, records, identity }) => ({
      writer_id: writerId,
      state,
      records,
      app: identity["appId"] ?? null,
    })),
    problems: status.problems.map(problemJson),
    store: store
      ? {
          engine: store.engine,
          schema_version: store.schemaVersion,
          runs: store.runs,
          events: store.events,
          steps: store.steps,
          bodies: store.bodies,
          conflicts: store.conflicts,
          gaps: store.gaps,
          body_bytes: store.bodyBytes,
          body_bytes_on_disk: store.bodyBytesOnDisk,
          database_bytes: store.databaseBytes + store.walBytes,
        }
      : null,
  }
}
