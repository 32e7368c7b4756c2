import { readFileSync } from "node:fs"
import { constants } from "node:os"
import { basename } from "node:path"
import { advice, given, InputError, suggested } from "@orangebox/contract"
import { openDataFolder } from "@orangebox/journal"
import { recordCommand } from "@orangebox/proxy"
import { topFindingLine } from "@orangebox/query"
import { CLASSIFIER, dataPath, diagnoseRun, type LoadedRun, loadRun } from "@orangebox/reader"
import { findConfig } from "@orangebox/recorder"
import { safeJson } from "@orangebox/text"
import type { Command } from "commander"
import { EXIT } from "../exit-code.js"
import { pasteable } from "../next-command.js"
import { parsePort } from "../option-values.js"
import { withReading } from "../reading.js"
import { parseVariable, type VariableOptions, withVariableOption } from "../running/base-url-variables.js"
import { type CaptureOptions, captureOf, withCaptureOptions } from "../running/capture-options.js"
import { type RecordedCommand, verdictJson, verdictText } from "../running/format-verdict.js"
import { stableAddress } from "../running/stable-address.js"
import { bindShell, type GlobalOptions, prose, type Session, wrongUsage } from "../session.js"

interface RunOptions extends CaptureOptions, VariableOptions {
  readonly app?: string
  readonly port?: number
  readonly ca?: string
  readonly requireCapture?: boolean
  /** False with `--no-workspace`. */
  readonly workspace?: boolean
  readonly quiet?: boolean
}

export function define(command: Command, session: Session): void {
  withVariableOption(withCaptureOptions(command))
    .description("Run a command and record every model call it makes, whatever it is written in.")
    .argument("<command...>", "the command and its arguments, after --")
    .option("--app <name>", "the application's name on the run; default: the command's")
    .option("--port <n>", "the proxy's port on 127.0.0.1; its address is then the same every time", parsePort)
    .option("--ca <file>", "certificates to trust for the upstreams, beside the system's own (PEM)")
    .option("--require-capture", "exit with 1 when nothing was captured")
    .option("--no-workspace", "do not record what the command changes in its git work tree")
    .option("--quiet", "no verdict at the end")
    .addHelpText(
      "after",
      prose(
        session,
        "The command keeps the terminal, its signals and its exit code. Its clients are pointed at a proxy on this machine by the variables they read (ANTHROPIC_BASE_URL, OPENAI_BASE_URL, …), which goes on to the server they named before.\nThe verdict goes to stderr, with --json as one JSON document: stdout belongs to the command.",
      ),
    )
  bindShell<RunOptions>(command, session, run, [
    ["orangebox run -- claude -p 'fix the date test'", "record a coding agent"],
    ["orangebox run -- python agent.py", "record an agent of your own"],
    ["orangebox run --variable MISTRAL_BASE_URL=https://api.mistral.ai -- node agent.mjs", "one more provider"],
    ["orangebox run --port 4000 -- my-agent", "for an agent whose settings file holds the address"],
    ["orangebox run --require-capture -- npm run eval", "in CI: an empty recording is a failure"],
  ])
}

/** Here, where a mistake can still be told: the proxy reads the file in a process of its own, and TLS takes a file without certificates for none. */
function checkCertificates(path: string): void {
  let text: string
  try {
    text = readFileSync(path, "utf8")
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new InputError("CA_FILE", { what: `the certificates cannot be read: ${why}`, where: path, cause })
  }
  if (text.includes("-----BEGIN CERTIFICATE-----")) return
  throw new InputError("CA_FILE", {
    what: "the file holds no certificate",
    where: path,
    next: "Name a PEM file: its certificates begin with -----BEGIN CERTIFICATE-----",
  })
}

async function run(session: Session, options: RunOptions & GlobalOptions, ...command: string[]): Promise<number> {
  const [program, ...args] = command
  if (program === undefined) {
    throw wrongUsage("there is no command to run", advice`Put it behind --: ${suggested("run", "-- node agent.mjs")}`)
  }
  const { terminal } = session
  if (options.ca !== undefined) checkCertificates(options.ca)
  const folder = openDataFolder(dataPath(options.data))
  let hints: readonly string[] = []
  const sayHints = (): void => {
    for (const hint of hints) terminal.sayVerbatim(`orangebox: ${hint}`)
  }
  const { exitCode, signal, verdict } = await recordCommand({
    command: [program, ...args],
    folder: folder.path,
    variables: options.variable.map(parseVariable),
    upstreams: findConfig(process.cwd())?.config.upstreams ?? {},
    ...captureOf(options),
    classifier: CLASSIFIER,
    ...given({ workspace: options.workspace, app: options.app, caFile: options.ca, port: options.port }),
    ...(options.port === undefined ? {} : { token: stableAddress(folder.path).token }),
    onStart: (started) => {
      hints = started.hints
      if (!options.quiet) sayHints()
    },
    onWarning: (message) => terminal.say(`orangebox: ${message}`),
  })
  const ended: RecordedCommand = {
    name: basename(program),
    exitCode,
    signal,
    verdict,
    read: await readBack(session, { ...options, data: folder.path }, verdict.runIds.at(-1)),
  }
  if (options.json) terminal.sayPainted(safeJson(verdictJson(ended, folder.path), 2))
  else if (!options.quiet || verdict.nothingBecause !== null) {
    terminal.sayPainted(verdictText(ended, folder.path, terminal.paintTalk))
    if (verdict.nothingBecause !== null) sayHints()
  }
  const own = exitCode ?? 128 + (signal === null ? 0 : constants.signals[signal])
  return options.requireCapture && verdict.nothingBecause !== null && own === 0 ? EXIT.findings : own
}

const modelCallsOf = (run: LoadedRun | undefined): number => run?.view.totals.modelCalls ?? 0

/**
 * Where the agent recorded itself, the command's run only points there: the one to read is the agent's.
 * The run is read back from the store: a digest that was not, would prove nothing, and its calls are priced as every reader prices them.
 */
async function readBack(
  session: Session,
  options: GlobalOptions,
  runId: string | undefined,
): Promise<RecordedCommand["read"]> {
  if (runId === undefined) return undefined
  try {
    return await withReading(session, options, async ({ store }) => {
      const run = await loadRun(store, runId)
      if (!run) return undefined
      const told = run.view.steps[0]?.links.filter(({ kind }) => kind === "mentions") ?? []
      const ids = new Set(told.flatMap(({ run_id }) => run_id ?? []))
      const ownRuns = await Promise.all([...ids].map((id) => loadRun(store, id)))
      const read =
        ownRuns.reduce((best, own) => (own && modelCallsOf(own) > modelCallsOf(best) ? own : best), run) ?? run
      const { digest, view, row } = read
      const diagnosis = await diagnoseRun(store, store, read, { data: options.data })
      const finding = topFindingLine(diagnosis, pasteable(options, row.runId))
      return { runId: row.runId, digest, money: view.money, finding, isAgentsOwn: view !== run.view }
    })
  } catch {
    // The recording is in the journal; a store that cannot be read now must not change how the command ended.
    return undefined
  }
}
