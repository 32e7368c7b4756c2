import { openDataFolder } from "@orangebox/journal"
import { dataPath, inWords } from "@orangebox/reader"
import { readServeFile, standingKey, startServer } from "@orangebox/server"
import { safeJson, shellWord } from "@orangebox/text"
import type { Command } from "commander"
import { answerScript, webFolder } from "../built-files.js"
import { watchText } from "../collecting/format-watch.js"
import { debuggerSkill } from "../debugger-skill.js"
import { EXIT, type ExitCode } from "../exit-code.js"
import { headersIn } from "../export/send-otlp.js"
import { collected, parsePort } from "../option-values.js"
import { forwardRuns } from "../serving/forward-runs.js"
import { USUAL_PORT } from "../serving/look-in-browser.js"
import { receiveOtlp } from "../serving/receive-otlp.js"
import { bindShell, type GlobalOptions, prose, type Session, wrongUsage } from "../session.js"
import { versionOf } from "../version.js"
import { whileNotInterrupted } from "../while-not-interrupted.js"

interface ServeOptions {
  readonly port?: number
  readonly host: readonly string[]
  readonly rotateKey?: boolean
  readonly printEnv?: boolean
  readonly openOtlp?: boolean
  readonly otlpOut?: string
  readonly content?: boolean
  readonly header?: readonly string[]
}

export function define(command: Command, session: Session): void {
  command
    .description(
      "Serve the HTTP API, the web UI and MCP on this machine, take OTLP in, and collect meanwhile. Stops with Ctrl-C.",
    )
    .option("--port <n>", `listen at this port; default: ${USUAL_PORT}`, parsePort)
    .option("--host <name>", "answer to this name as well; may be given several times", collected, [])
    .option("--print-env", "print what a client that is configured once needs, and stop")
    .option("--open-otlp", "take OTLP in without a key; who may connect to this machine may then write")
    .option("--otlp-out <url>", "send every run that ends to this OTLP receiver")
    .option("--content", "with --otlp-out: also what was said, asked and answered")
    .option("--header <name=value...>", "with --otlp-out: headers to send along, such as a key")
    .option("--rotate-key", "make a new key for such clients, and stop; the old one is worth nothing then")
    .addHelpText(
      "after",
      prose(
        session,
        "It listens on 127.0.0.1 alone; --host is for a tunnel or a proxy that has another name. A browser gets its key with: orangebox ui. Clients of /mcp and exporters that send to /v1/traces and /v1/logs use a key that stays, in the file serve-key of the data folder; it opens nothing else.",
      ),
    )
  bindShell<ServeOptions>(command, session, serve, [
    ["orangebox serve", "until Ctrl-C"],
    ["orangebox serve --print-env", "the address and the key for an MCP client and an exporter"],
    ["orangebox serve --rotate-key", "when that key may be known to others"],
  ])
}

async function serve(session: Session, options: ServeOptions & GlobalOptions): Promise<ExitCode> {
  const { terminal } = session
  if (options.printEnv && options.rotateKey)
    throw wrongUsage("--print-env shows the key and --rotate-key makes another", "Choose one")
  const folder = openDataFolder(dataPath(options.data))
  const data = folder.path
  if (options.rotateKey) {
    standingKey(data, { isRotated: true })
    terminal.out(
      options.json ? safeJson({ rotated: true }) : "there is a new key: orangebox serve --print-env shows it",
    )
    return EXIT.fine
  }
  if (options.printEnv) {
    const url = readServeFile(data)?.url ?? `http://127.0.0.1:${options.port ?? USUAL_PORT}`
    const key = `Bearer ${standingKey(data)}`
    const env = {
      ...{ ORANGEBOX_MCP_URL: `${url}/mcp`, ORANGEBOX_MCP_AUTHORIZATION: key },
      ...{ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf" },
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${encodeURIComponent(key)}`,
    }
    const lines = Object.entries(env).map(([name, value]) => `${name}=${shellWord(value)}`)
    terminal.outVerbatim(options.json ? safeJson(env, 2) : lines.join("\n"))
    return EXIT.fine
  }
  const say = (line: string): void => terminal.say(`orangebox: ${inWords(line)}`)
  return whileNotInterrupted(async (signal) => {
    const receiving = receiveOtlp(folder, options.openOtlp === true, say)
    const server = await startServer({
      ...{ data, named: options.data, version: versionOf(), collects: true, webFolder: webFolder() },
      ...{ hosts: options.host, skill: debuggerSkill(), answerScript: answerScript() },
      ...{ port: options.port ?? USUAL_PORT, isPortFixed: true },
      onStatus: (status) => {
        if (status.kind === "failing" || status.kind === "waiting") say(watchText(status))
      },
      onWarning: say,
      otlp: receiving.receiver,
    }).catch(async (error: unknown) => {
      await receiving.close()
      throw error
    })
    try {
      if (options.json) terminal.out(safeJson({ url: server.url, pid: process.pid }))
      else terminal.out(`serving ${server.url}; open it with: orangebox ui`)
      if (options.otlpOut === undefined) await new Promise((resolve) => signal.addEventListener("abort", resolve))
      else
        await forwardRuns(
          folder,
          { url: options.otlpOut, headers: headersIn(options.header ?? [], undefined) },
          { hasContent: options.content === true, signal, onWarning: say },
        )
    } finally {
      await receiving.close()
      await server.close()
    }
    return EXIT.fine
  })
}
