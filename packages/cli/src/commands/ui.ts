import { findTarget, locateData } from "@orangebox/reader"
import type { TraceReader } from "@orangebox/store"
import type { Command } from "commander"
import { EXIT, type ExitCode } from "../exit-code.js"
import { parsePort } from "../option-values.js"
import { withReading } from "../reading.js"
import { lookInBrowser, USUAL_PORT } from "../serving/look-in-browser.js"
import { bindShell, type GlobalOptions, prose, type Session } from "../session.js"

interface UiOptions {
  readonly port?: number
  /** False with `--no-open`. */
  readonly open: boolean
}

export function define(command: Command, session: Session): void {
  command
    .description("Look at what was recorded in the browser. Stops with Ctrl-C.")
    .argument("[address]", "a run, or a step of it, to begin with")
    .option("--port <n>", `listen at this port; default: ${USUAL_PORT}, or the next that is free`, parsePort)
    .option("--no-open", "only print the address")
    .addHelpText(
      "after",
      prose(
        session,
        "It listens on this machine alone. The address opens the page once, within a minute; ask again for another. A server that runs for this data folder already is used.",
      ),
    )
  bindShell<UiOptions>(command, session, ui, [
    ["orangebox ui", "all runs"],
    ["orangebox ui last", "the last one"],
    ["orangebox ui last#13", "its step 13"],
    ["orangebox ui --no-open --port 8080", "for a browser that you open yourself"],
  ])
}

async function ui(session: Session, options: UiOptions & GlobalOptions, address?: string): Promise<ExitCode> {
  const { path: data } = locateData(options.data)
  const page = await withReading(session, { ...options, data }, ({ store }) => pageOf(store, address))
  const { data: named, port, open: isOpened, json = false } = options
  await lookInBrowser(session, { data, named, page, port, isOpened, json })
  return EXIT.fine
}

/** Where to begin: what was asked for, the only run there is, or the list of all. */
async function pageOf(store: TraceReader, address: string | undefined): Promise<string> {
  if (address !== undefined) {
    const { runId, stepId } = await findTarget(store, address)
    if (runId === null) return "/runs"
    const no = stepId === null ? undefined : (await store.stepsOf(runId)).find((step) => step.stepId === stepId)?.no
    return `/runs/${encodeURIComponent(runId)}${no === undefined || no === 1 ? "" : `/${no}`}`
  }
  const { rows, total } = await store.listRuns({ limit: 1 })
  return total === 1 ? `/runs/${encodeURIComponent(rows[0]!.runId)}` : "/runs"
}
