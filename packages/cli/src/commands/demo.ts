import { resolve } from "node:path"
import { createInterface } from "node:readline/promises"
import { openDataFolder } from "@orangebox/journal"
import { safeJson } from "@orangebox/text"
import type { Command } from "commander"
import { commandName } from "../command-name.js"
import { demoJson, demoText, readDemo } from "../demo/demo-report.js"
import { playDemo } from "../demo/play-demo.js"
import { makeTemporaryFolder, removeAbandonedFolders } from "../demo/temporary-folder.js"
import { EXIT, type ExitCode } from "../exit-code.js"
import { withReading } from "../reading.js"
import { lookInBrowser } from "../serving/look-in-browser.js"
import { bindShell, type GlobalOptions, prose, type Session } from "../session.js"
import { whileNotInterrupted } from "../while-not-interrupted.js"

export function define(command: Command, session: Session): void {
  command
    .description(
      "See it work, in seconds, without key or network: an agent fixes a bug, one is killed, one breaks its cache.",
    )
    .addHelpText(
      "after",
      prose(
        session,
        "Only the model's replies are scripted. The agent, its edits, its test runs, the kill and the records are real.",
      ),
    )
  bindShell(command, session, demo, [
    ["orangebox demo", "records into a folder in the temporary directory, and names it"],
    ["orangebox demo --data ./demo-data", "records into this one"],
  ])
}

async function demo(session: Session, options: GlobalOptions): Promise<ExitCode> {
  const { terminal } = session
  removeAbandonedFolders()
  const folder = options.data === undefined ? makeTemporaryFolder() : undefined
  const { path: dataFolder } = openDataFolder(folder?.path ?? resolve(options.data ?? ""))
  const played = await whileNotInterrupted((signal) =>
    playDemo({ dataFolder, signal, say: (line) => terminal.say(`▸ ${line}`) }),
  ).catch((error: unknown) => {
    // Half a demo shows nothing; a folder we made ourselves goes with it.
    folder?.remove()
    throw error
  })
  folder?.keep()
  const exitCode = await withReading(session, { ...options, data: dataFolder }, async ({ store }) => {
    terminal.say("▸ all processes are gone; what follows is read back from the store")
    terminal.say("")
    const report = await readDemo(store, played)
    terminal.out(
      options.json
        ? safeJson(demoJson(report, dataFolder), 2)
        : demoText(report, terminal, commandName(process.env), options.data ?? dataFolder),
    )
    const isAllThere = report.lost === 0 && report.crash.storedBytes === report.crash.acknowledgedBytes
    return isAllThere && report.crash.n !== undefined ? EXIT.fine : EXIT.findings
  })
  if (!options.json && (await isWanted(session))) {
    const look = { data: dataFolder, named: dataFolder, page: `/runs/${played.finished.runId}` }
    await lookInBrowser(session, { ...look, isOpened: true, json: false })
  }
  return exitCode
}

/** Asked only where somebody can answer; everybody else has the command for it above. */
async function isWanted({ terminal, stdin }: Session): Promise<boolean> {
  if (!terminal.isOutTerminal || !(stdin as { readonly isTTY?: boolean }).isTTY) return false
  const prompt = createInterface({ input: stdin, output: process.stderr })
  try {
    return /^(?:y|yes|)$/i.test((await prompt.question("Look at it in the browser? [Y/n] ")).trim())
  } catch {
    // Ctrl-D is no.
    return false
  } finally {
    prompt.close()
  }
}
