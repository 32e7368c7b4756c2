import { OrangeboxError } from "@orangebox/contract"
import { openDataFolder } from "@orangebox/journal"
import { planVariables, startProxy } from "@orangebox/proxy"
import { classifyIn, dataPath } from "@orangebox/reader"
import { findConfig, Recorder } from "@orangebox/recorder"
import { plural, safeJson } from "@orangebox/text"
import type { Command } from "commander"
import { EXIT, type ExitCode } from "../exit-code.js"
import { InterruptedError } from "../failure.js"
import { collected, parsePort } from "../option-values.js"
import { type CaptureOptions, captureOf, withCaptureOptions } from "../running/capture-options.js"
import { stableAddress } from "../running/stable-address.js"
import { bindShell, type GlobalOptions, prose, type Session, wrongUsage } from "../session.js"
import { whileNotInterrupted } from "../while-not-interrupted.js"

interface ProxyCommandOptions extends CaptureOptions {
  readonly app?: string
  readonly port?: number
  readonly upstream: readonly string[]
}

export function define(command: Command, session: Session): void {
  withCaptureOptions(command)
    .description("Run the recording proxy standing alone, for clients that are pointed at it by hand.")
    .option("--port <n>", "the port on 127.0.0.1; default: the data folder's own, the same every time", parsePort)
    .option(
      "--upstream <name=url>",
      "a server to lead to, beside the vendors' own; may be repeated",
      collected,
      [] as readonly string[],
    )
    .option("--app <name>", "the application's name on the runs; default: proxy")
    .addHelpText(
      "after",
      prose(
        session,
        "Prints one base URL for each upstream, the same every time for a data folder; `orangebox run --port` has them too. Whoever has such a URL can spend your money through it, so it holds a secret part.\nEach conversation becomes a run of its own and ends when it has been silent for a while. Ctrl-C ends the proxy in good order.",
      ),
    )
  bindShell<ProxyCommandOptions>(command, session, proxy, [
    ["orangebox proxy", "for Anthropic, OpenAI and Gemini clients"],
    ["orangebox proxy --port 4000 --upstream local=http://127.0.0.1:11434", "a model server of your own too"],
  ])
}

async function proxy(session: Session, options: ProxyCommandOptions & GlobalOptions): Promise<ExitCode> {
  const { terminal } = session
  const folder = openDataFolder(dataPath(options.data))
  const recorder = Recorder.open({
    app: options.app ?? "proxy",
    folder: folder.path,
    ...captureOf(options),
    classify: classifyIn(process.cwd(), folder.path),
    onWarning: (warning) => terminal.say(`orangebox: ${warning.message}`),
  })
  const configured = findConfig(process.cwd())?.config.upstreams ?? {}
  const plan = planVariables(process.env, [], configured)
  const upstreams = {
    ...configured,
    ...plan.upstreams,
    ...Object.fromEntries(options.upstream.map(parseUpstream)),
  }
  const { port, token } = stableAddress(folder.path)
  const start = (at: number) =>
    startProxy({
      recorder,
      upstreams,
      versioned: plan.versioned,
      port: at,
      token,
      onWarning: (warning) => terminal.say(`orangebox: ${warning.message}`),
    })
  const proxied = await start(options.port ?? port).catch((error: unknown) => {
    if (options.port !== undefined || !(error instanceof OrangeboxError) || error.code !== "PORT") throw error
    terminal.say(`orangebox: ${error.what}, so the address is another one this time`)
    return start(0)
  })
  const urls = Object.fromEntries(Object.keys(upstreams).map((name) => [name, proxied.urlFor(name)]))
  try {
    // Announced only once Ctrl-C is listened to: a reader may press it at once.
    await whileNotInterrupted((signal) => {
      terminal.out(
        options.json
          ? safeJson({ origin: proxied.origin, data_folder: folder.path, urls })
          : Object.entries(urls)
              .map(([name, url]) => `${name.padEnd(10)} ${url}`)
              .join("\n"),
      )
      terminal.say(`orangebox: recording into ${folder.path}; Ctrl-C ends it`)
      return new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))
    })
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error
  }
  await proxied.close()
  recorder.close()
  const { modelCalls, errors } = proxied.stats()
  terminal.say(`orangebox: ${plural(modelCalls, "model call")} recorded · ${plural(errors, "error")}`)
  return EXIT.fine
}

function parseUpstream(text: string): [string, string] {
  const [name = "", ...rest] = text.split("=")
  if (!/^[a-z][\w-]*$/i.test(name) || rest.length === 0) {
    throw wrongUsage("--upstream is not name=url", "For example: local=http://127.0.0.1:11434")
  }
  return [name, rest.join("=")]
}
