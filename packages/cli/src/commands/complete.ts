import type { Command } from "commander"
import { completionsFor } from "../completion/completions-for.js"
import { type Session, shellOf } from "../session.js"

/** What the completion scripts call: prints what may stand at the place of the last word. */
export function define(command: Command, session: Session): void {
  command
    .argument("[words...]")
    .allowUnknownOption()
    .action(
      shellOf(session, async ({ terminal }, options, ...words) => {
        const candidates = await completionsFor(words, (name) => optionsOf(command.parent, name), options.data)
        for (const candidate of candidates) terminal.outVerbatim(candidate)
        return undefined
      }),
    )
}

/** The command that the words name is loaded like any command that stands in the arguments. */
function optionsOf(program: Command | null, name: string | undefined): string[] {
  const named = program?.commands.find((candidate) => candidate.name() === name)
  return [...(named?.options ?? []), ...(program?.options ?? [])].flatMap(({ long }) => (long ? [long] : []))
}
