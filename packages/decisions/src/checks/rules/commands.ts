import { holdsMask } from "../../captured-text.js"
import { type CommandPattern, matchesCommand, mentionsCommand, readCommandPattern } from "../command-pattern.js"
import type { PreparedAction, PreparedCommand } from "../prepared-action.js"
import { type Answer, type ArgumentProblem, defineRule, type Finding, unknownOption } from "../rule.js"
import type { RuleText } from "../rule-text.js"

interface CommandsArgument {
  readonly patterns: readonly CommandPattern[]
}

export const commandsDeny = defineRule<CommandsArgument>({
  name: "commands.deny",
  form: "commands.deny <command>…",
  about: "None of these commands is run, however it is quoted, chained or wrapped",
  example: 'commands.deny "git push" "rm -rf" sudo',
  concerns: ["alignment", "policy"],
  judged: "before",
  read: readPatterns,
  onAction: ({ patterns }, prepared) =>
    judgeCommands(prepared, (one) => {
      const matches = patterns.map((pattern) => ({ pattern, match: matchesCommand(pattern, one.command, false) }))
      const sure = matches.find(({ match }) => match === "yes")
      if (sure !== undefined) return `${one.command.program} is a command that must not be run (${sure.pattern.text})`
      const possible =
        matches.find(({ match }) => match === "unknown")?.pattern ?? patterns.find((pattern) => mayCarry(pattern, one))
      if (possible !== undefined) return { unknown: `whether it is ${possible.text} only running would tell` }
      const { mayRun, program } = one.effects
      return mayRun === undefined ? undefined : { unknown: `${program ?? "a command"}: ${mayRun}` }
    }),
})

export const commandsAllow = defineRule<CommandsArgument>({
  name: "commands.allow",
  form: "commands.allow <command>…",
  about: "Only these commands are run; every command of a chain, a pipe or a script must be one of them",
  example: 'commands.allow "npm test" "git status" "git diff" ls cat',
  concerns: ["alignment", "policy"],
  judged: "before",
  read: readPatterns,
  onAction: ({ patterns }, prepared) =>
    judgeCommands(prepared, (one) => {
      const { command } = one
      if (command.role === "wrapper" || command.role === "function") return undefined
      if (command.program === "" || ALWAYS_ALLOWED.has(command.program ?? "")) return undefined
      if (command.program === undefined) return { unknown: "which program runs only running would tell" }
      if (patterns.some((pattern) => matchesCommand(pattern, command, true) === "yes")) return undefined
      if (holdsMask(one.ran.text.slice(command.start, command.end)))
        return { unknown: "a part of the command was masked" }
      return `${command.program} is not among the commands that may be run`
    }),
})

/**
 * What wrappers run stands in the reading by itself. The message of a commit is only text; a subcommand of git without a description may be an
 * alias of any other.
 */
function mayCarry(pattern: CommandPattern, { command, effects }: PreparedCommand): boolean {
  if (command.role !== "command") return false
  if (effects.program !== "git") return mentionsCommand(pattern, command)
  return effects.opaque !== undefined && (pattern.program === "git" || mentionsCommand(pattern, command))
}

/** They change nothing by themselves and stand between commands in every script. */
const ALWAYS_ALLOWED = new Set([":", "true", "false", "cd", "[", "[[", "test", "exit", "return", "set", "export"])

function readPatterns(text: RuleText): CommandsArgument | ArgumentProblem {
  const option = unknownOption(text, [])
  if (option !== undefined) return option
  const patterns: CommandPattern[] = []
  for (const { text: pattern, position } of text.values) {
    const read = readCommandPattern(pattern)
    if (read === undefined) return { position, reason: "the command is empty" }
    patterns.push(read)
  }
  return patterns.length > 0 ? { patterns } : { position: text.rest.position, reason: "a command is missing" }
}

function judgeCommands(
  { action, commands, unreadable, untold }: PreparedAction,
  judge: (one: PreparedCommand) => string | { unknown: string } | undefined,
): Answer | undefined {
  if (action.tool === null && commands.length === 0) return undefined
  const findings: Finding[] = []
  const unknown: string[] = []
  if (untold !== undefined) unknown.push(untold)
  for (const one of commands) {
    const judged = judge(one)
    if (judged === undefined) continue
    if (typeof judged === "string") {
      const excerpt = one.ran.text.slice(one.command.start, one.command.end)
      findings.push({ certainty: "sure", message: judged, excerpt, pointers: [one.ran.evidence] })
    } else unknown.push(judged.unknown)
  }
  return { findings, unknown: unknown[0] ?? unreadable[0] }
}
