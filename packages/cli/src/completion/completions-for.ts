import type { Command } from "commander"
import { SHELLS } from "./completion-script.js"
import { recentRunIds } from "./recent-run-ids.js"

/** What may stand at the place of the last word. */
export async function completionsFor(
  program: Command,
  words: readonly string[],
  data: string | undefined,
): Promise<string[]> {
  const typed = words.at(-1) ?? ""
  const before = words.slice(0, -1)
  const commands = program.commands.filter((command) => !command.name().startsWith("__"))
  const command = commands.find((candidate) => before.includes(candidate.name()))
  const fits = (candidate: string): boolean => candidate.startsWith(typed)

  if (typed.startsWith("-")) return optionsOf(program, command).filter(fits)
  if (!command) return commands.map((candidate) => candidate.name()).filter(fits)
  if (command.name() === "completion") return SHELLS.filter(fits)
  if (!TAKES_A_RUN.has(command.name())) return []
  return ["last", ...(await recentRunIds(dataIn(before) ?? data))].filter(fits)
}

const TAKES_A_RUN = new Set(["show", "step", "verify"])

function optionsOf(program: Command, command: Command | undefined): string[] {
  const options = [...(command?.options ?? []), ...program.options]
  return [...options.flatMap(({ long }) => (long ? [long] : [])), "--help"]
}

function dataIn(words: readonly string[]): string | undefined {
  const at = words.lastIndexOf("--data")
  return at === -1 ? undefined : words[at + 1]
}
