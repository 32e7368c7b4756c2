import { InputError } from "@orangebox/contract"
import { CommanderError } from "commander"
import { COMMANDS } from "./commands.js"
import { EXIT } from "./exit-code.js"
import { buildProgram } from "./program.js"
import type { Session } from "./session.js"
import { openTerminal, type TerminalStreams } from "./terminal.js"

/** Runs one command line. Never throws: whatever goes wrong is said on stderr and becomes the exit code. */
export async function runCommandLine(typed: readonly string[], streams: TerminalStreams): Promise<number> {
  surviveClosedPipe(streams)
  const args = withoutHelp(typed)
  const session: Session = {
    terminal: openTerminal(streams),
    stdin: streams.stdin ?? process.stdin,
    args: typed,
    exitCode: EXIT.fine,
  }
  try {
    const program = await buildProgram(args, session, streams)
    if (args.length === 0) {
      program.outputHelp()
      return EXIT.fine
    }
    await program.parseAsync([...args], { from: "user" })
    return session.exitCode
  } catch (error) {
    // Asking for help or the version is how commander says that it has done its work.
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.fine
    const told = error instanceof CommanderError ? usageError(error, args) : error
    const isDebug = Boolean(streams.env["ORANGEBOX_DEBUG"])
    const json = ownWords(args).includes("--json")
    // It knows what can go wrong anywhere, so it loads only where something did.
    const { exitCodeOf, reportFailure } = await import("./failure.js")
    await reportFailure(session.terminal, told, {
      ...{ json, debug: isDebug, command: commandIn(args), data: dataIn(args) },
    })
    return exitCodeOf(told)
  }
}

/** What is behind `--` belongs to the command that `orangebox run` starts. */
function ownWords(args: readonly string[]): readonly string[] {
  const end = args.indexOf("--")
  return end === -1 ? args : args.slice(0, end)
}

const commandIn = (args: readonly string[]): string | undefined =>
  ownWords(args).find((word) => COMMANDS.some(({ name }) => name === word))

/** The data folder that was named, whether or not the rest could be understood. */
function dataIn(args: readonly string[]): string | undefined {
  const words = ownWords(args)
  const at = words.findIndex((word) => /^--data(?:=|$)/.test(word))
  return at === -1 ? undefined : (words[at]!.split("=", 2)[1] ?? words[at + 1])
}

/** `help show` is `show --help`. */
function withoutHelp(args: readonly string[]): readonly string[] {
  if (args[0] !== "help") return args
  const [, asked, ...rest] = args
  return asked === undefined || COMMANDS.some(({ name }) => name === asked)
    ? [...args.slice(1), "--help"]
    : [asked, ...rest]
}

function usageError(error: CommanderError, args: readonly string[]): InputError {
  const [said = "", ...more] = error.message.replace(/^error: /, "").split("\n")
  const suggestion = more.join(" ").replace(/^\(|\)$/g, "")
  const command = commandIn(args)
  const help = `See: orangebox${command === undefined ? "" : ` ${command}`} --help`
  return new InputError("USAGE", { what: said, next: suggestion === "" ? help : `${suggestion} ${help}` })
}

/** `orangebox … | head` closes the pipe when it has seen enough; that is no error, and there is no reader left to tell. */
function surviveClosedPipe({ stdout, stderr }: TerminalStreams): void {
  for (const stream of [stdout, stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error
      process.exit(process.exitCode ?? EXIT.fine)
    })
  }
}
