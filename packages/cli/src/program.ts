import { Command } from "commander"
import { COMMANDS } from "./commands.js"
import { examples, prose, type Session } from "./session.js"
import type { TerminalStreams } from "./terminal.js"
import { versionOf } from "./version.js"

/** The command line as far as these arguments need it: the commands they name with all their options, the others by name. */
export async function buildProgram(
  args: readonly string[],
  session: Session,
  { stdout, stderr }: Pick<TerminalStreams, "stdout" | "stderr">,
): Promise<Command> {
  const program = new Command("orangebox")
    .description("The flight recorder for AI agents: what an agent saw, what it did, where it went wrong.")
    .version(versionOf(), "-V, --version", "print the version")
    .option("--data <folder>", "data folder; default: ORANGEBOX_HOME, else the nearest .orangebox upwards from here")
    .option("--json", "print one JSON document on stdout, as described in docs/cli-json.md")
    .helpOption("-h, --help", "print help")
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true, styleTitle: (title) => title })
    .configureOutput({
      getOutHelpWidth: () => session.terminal.helpColumns,
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      // Errors of usage are reported like all others, by the caller.
      outputError: () => {},
    })
    .exitOverride()
    .addHelpText(
      "after",
      examples(session, [
        ["orangebox demo", "see it all on a scripted agent: no key, no network"],
        ["orangebox run -- claude -p 'fix it'", "record any agent"],
        ["orangebox show", "the last run, one line per step"],
        ["orangebox step last#13", "everything about one step"],
      ]),
    )
    .addHelpText(
      "after",
      prose(
        session,
        "A run is addressed by its id, the beginning of one, or last; a step as last#13.\nExit codes: 0 fine, 1 findings, 2 bad usage or input, 3 system error.",
      ),
    )
  for (const { name, summary, group, load, isHidden = false } of COMMANDS) {
    const command = program.command(name, { hidden: isHidden }).summary(summary).helpGroup(`${group}:`)
    if (args.includes(name)) (await load()).define(command, session)
  }
  return program
}
