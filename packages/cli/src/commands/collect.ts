import { dirname } from "node:path"
import { collectorStatus, rebuildStore, watch } from "@orangebox/collector"
import { locateData, pricesFor, standingRetention } from "@orangebox/reader"
import { safeJson } from "@orangebox/text"
import type { Command } from "commander"
import { catchUpJson, catchUpText, rebuildText } from "../collecting/format-catch-up.js"
import { statusJson, statusText } from "../collecting/format-status.js"
import { watchJson, watchText } from "../collecting/format-watch.js"
import { EXIT, type ExitCode } from "../exit-code.js"
import { catchUpHere } from "../reading.js"
import { bindShell, type GlobalOptions, type Session, wrongUsage } from "../session.js"
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
  bindShell<CollectOptions>(command, session, collect, [
    ["orangebox collect", "once"],
    ["orangebox collect --watch", "as a service; one per store"],
    ["orangebox collect --status", "is anything stuck?"],
  ])
}

async function collect(session: Session, options: CollectOptions & GlobalOptions): Promise<ExitCode> {
  if ([options.watch, options.rebuild, options.status].filter(Boolean).length > 1) {
    throw wrongUsage("--watch, --rebuild and --status exclude each other", "Choose one")
  }
  const { path } = locateData(options.data)
  if (options.status) return showStatus(session, options, path)
  if (options.watch) return watchFolder(session, options, path)
  if (options.rebuild) return rebuild(session, options, path)
  const report = await catchUpHere(session, path)
  session.terminal.out(options.json ? safeJson(catchUpJson(report), 2) : catchUpText(report, options))
  return report.failure ? EXIT.systemError : EXIT.fine
}

async function showStatus({ terminal }: Session, { json }: GlobalOptions, path: string): Promise<ExitCode> {
  const status = await collectorStatus(path, standingRetention(path))
  terminal.out(json ? safeJson(statusJson(status), 2) : statusText(status))
  return EXIT.fine
}

async function watchFolder({ terminal }: Session, { json }: GlobalOptions, dataFolder: string): Promise<ExitCode> {
  if (!json) terminal.say(`watching ${dataFolder}; stop with Ctrl-C`)
  const { policy: retention, keep } = standingRetention(dataFolder)
  await whileNotInterrupted((signal) =>
    watch({
      dataFolder,
      retention,
      keep,
      prices: pricesFor(dirname(dataFolder)),
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
  const { update: onProgress } = terminal.progress
  onProgress(0, undefined, "rebuilding")
  const { rebuilt } = await rebuildStore({ dataFolder, prices: pricesFor(dirname(dataFolder)), onProgress })
  terminal.out(json ? safeJson(rebuilt, 2) : rebuildText(rebuilt))
  return EXIT.fine
}
