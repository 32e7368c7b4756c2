import { recentRunIds } from "@orangebox/reader"
import type { Command } from "commander"
import { COMMANDS } from "../commands.js"
import { SHELLS } from "../completion/completion-script.js"
import { bindShell, type Session } from "../session.js"

/** What the completion scripts call: prints what may stand at the place of the last word. */
export function define(command: Command, session: Session): void {
  command.argument("[words...]").allowUnknownOption()
  bindShell(command, session, async ({ terminal }, options, ...words) => {
    const candidates = await completionsFor(words, (name) => optionsOf(command.parent, name), options.data)
    for (const candidate of candidates) terminal.outVerbatim(candidate)
    return undefined
  })
}

/** The command that the words name is loaded like any command that stands in the arguments. */
function optionsOf(program: Command | null, name: string | undefined): string[] {
  const named = program?.commands.find((candidate) => candidate.name() === name)
  return [...(named?.options ?? []), ...(program?.options ?? [])].flatMap(({ long }) => (long ? [long] : []))
}

/** What may stand at the place of the last word. `optionsOf` says which options a command has, or the program for undefined. */
async function completionsFor(
  words: readonly string[],
  optionsOf: (command: string | undefined) => readonly string[],
  data: string | undefined,
): Promise<string[]> {
  const typed = words.at(-1) ?? ""
  const before = words.slice(0, -1)
  const commands = COMMANDS.filter(({ isHidden }) => !isHidden)
  const command = commands.find(({ name }) => before.includes(name))
  const fits = (candidate: string): boolean => candidate.startsWith(typed)

  if (typed.startsWith("-")) return [...optionsOf(command?.name), "--help"].filter(fits)
  if (!command) return commands.map(({ name }) => name).filter(fits)
  if (command.name === "completion") return SHELLS.filter(fits)
  if (!command.takesRun) return []
  return ["last", ...(await recentRunIds(dataIn(before) ?? data, MOST_RUNS))].filter(fits)
}

const MOST_RUNS = 50

function dataIn(words: readonly string[]): string | undefined {
  const at = words.lastIndexOf("--data")
  return at === -1 ? undefined : words[at + 1]
}
