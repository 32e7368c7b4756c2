import type { SimpleCommand, Word } from "../shell/index.js"
import { isWild, matchesName } from "./paths/glob.js"

// A pattern of commands is a program, then options and operands: `git push --force`, `rm -rf`, `npm install *`.
// The program is compared by its base name. An option must stand somewhere among the words; `-rf` asks for both letters, however they are
// grouped. Operands must be the first operands, in order; `*` stands for any one of them.

export interface CommandPattern {
  readonly text: string
  readonly program: string
  readonly options: readonly string[]
  readonly operands: readonly string[]
}

export function readCommandPattern(text: string): CommandPattern | undefined {
  const [program, ...words] = text.trim().split(/\s+/)
  if (program === undefined || program === "") return undefined
  return {
    text,
    program: program.toLowerCase(),
    options: words.filter((word) => isOption(word)),
    operands: words.filter((word) => !isOption(word)),
  }
}

const isOption = (word: string): boolean => word.startsWith("-") && word.length > 1

/** `unknown`: words of the command that only running would tell could make it match. */
export type CommandMatch = "yes" | "no" | "unknown"

/** With `isStrict`, a word behind an option is an operand; without, it may as well be the option's value, and the pattern may skip it. */
export function matchesCommand(pattern: CommandPattern, command: SimpleCommand, isStrict: boolean): CommandMatch {
  if (command.program === undefined) return "unknown"
  // Where file names have no case, RM is rm; what is allowed must be written as it is.
  const program = isStrict ? command.program : command.program.toLowerCase()
  // `git-push` is how git itself calls `git push`.
  const [subcommand = ""] = pattern.operands
  const isJoined = !isStrict && subcommand !== "" && program === `${pattern.program}-${subcommand}`.toLowerCase()
  if (!isJoined && !matchesName(pattern.program, program)) return "no"
  const joined: readonly Word[] = isJoined ? [{ text: subcommand, isKnown: true, hasGlob: false }] : []
  const words = [...joined, ...command.words.slice(1)]
  const hasUnknown = words.some((word) => !word.isKnown)
  const missing = pattern.options.some((option) => !hasOption(words, option, command.program!))
  const operandsMatch = matchesOperands(pattern.operands, operandsOf(words, command.program, isStrict))
  if (!missing && operandsMatch) return "yes"
  return hasUnknown && !isStrict ? "unknown" : "no"
}

/** Programs whose words are text: what they are given, they print, compare, search for or send. */
const TEXT_PROGRAMS = new Set(
  (
    "echo printf cat tee grep egrep fgrep rg ag ack test [ [[ : true false head tail wc jq yq gh glab which type whereis man info help apropos " +
    "cd ls sleep exit return read"
  ).split(" "),
)
/** With these they are not: `man -P`, `rg --pre`. */
const RUNS_A_HELPER = /^(?:-P|--pager|--pre)(?:=|$)/

/**
 * Whether the command stands among the words, the variables or the input of another one that may run it: `tmux new 'git push'`,
 * `tar --checkpoint-action=exec='git push'`, `crontab - <<< '* * * * * git push'`. There are too many programs that run others to know them all.
 */
export function mentionsCommand(pattern: CommandPattern, command: SimpleCommand): boolean {
  const words = command.words.slice(1).map(({ text }) => text)
  const isText = TEXT_PROGRAMS.has(command.program ?? "") && !words.some((word) => RUNS_A_HELPER.test(word))
  if (isText || command.program === undefined) return false
  const given = [
    ...words,
    ...command.environment.map(({ value }) => value.text),
    ...command.redirections.flatMap(({ operator, target, body }) => [
      body?.text ?? "",
      operator === "<<<" ? target.text : "",
    ]),
  ]
  const tokens = given
    .join(" ")
    .slice(0, LONGEST_MENTION)
    .split(/[^\w./@+:-]+/)
    .filter((token) => token !== "")
  return tokens.some((token, at) => {
    const program = token.split("/").at(-1)!
    if (!matchesName(pattern.program, program.toLowerCase())) return false
    const rest = tokens.slice(at, at + MOST_MENTIONED).map((text): Word => ({ text, isKnown: true, hasGlob: false }))
    return matchesCommand(pattern, { ...command, program, words: rest }, false) === "yes"
  })
}

const LONGEST_MENTION = 65_536
const MOST_MENTIONED = 32

/** Letters with the long names they are short for, in programs where people mix both. */
const LONG_NAMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  rm: { r: "recursive", R: "recursive", f: "force" },
  cp: { r: "recursive", R: "recursive", f: "force" },
  chmod: { R: "recursive" },
  chown: { R: "recursive" },
  git: { f: "force", a: "all", n: "dry-run", d: "delete", D: "delete" },
  npm: { g: "global", f: "force", D: "save-dev" },
  docker: { f: "force" },
}

function hasOption(words: readonly Word[], option: string, program: string): boolean {
  if (option.startsWith("--")) {
    const letter = Object.entries(LONG_NAMES[program] ?? {}).find(([, long]) => `--${long}` === option)?.[0]
    // A long option may be shortened as long as it stays unique; three letters are what people write.
    return (
      words.some(
        ({ text }) =>
          text === option ||
          text.startsWith(`${option}=`) ||
          (text.length > 4 && text.startsWith("--") && option.startsWith(text)),
      ) ||
      (letter !== undefined && hasLetter(words, letter))
    )
  }
  return Array.from(option.slice(1)).every((letter) => {
    const names = LONG_NAMES[program]
    const long = names?.[letter]
    const twins = long === undefined ? [letter] : Object.keys(names ?? {}).filter((other) => names?.[other] === long)
    return (
      twins.some((twin) => hasLetter(words, twin)) ||
      (long !== undefined && words.some(({ text }) => text.length > 4 && `--${long}`.startsWith(text)))
    )
  })
}

const hasLetter = (words: readonly Word[], letter: string): boolean =>
  words.some(({ text }) => /^-[^-]/.test(text) && text.slice(1).split("=", 1)[0]!.includes(letter))

interface Operand {
  readonly text: string
  /** It stands behind an option that may take it as its value. */
  readonly mayBeValue: boolean
}

/** Options that take a value and stand before the subcommand. */
const GLOBAL_VALUES: Readonly<Record<string, ReadonlySet<string>>> = {
  git: new Set(["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"]),
  npm: new Set(["--prefix", "-C", "-w", "--workspace", "--loglevel", "--registry"]),
  pnpm: new Set(["-C", "--dir", "--filter", "-F"]),
  yarn: new Set(["--cwd"]),
  docker: new Set(["-H", "--host", "--context", "-c", "--config", "-l", "--log-level"]),
  kubectl: new Set(["-n", "--namespace", "--context", "--kubeconfig", "-s", "--cluster"]),
  gh: new Set(["-R", "--repo"]),
  cargo: new Set(["--config", "-Z", "-C", "--color"]),
  go: new Set(["-C"]),
}

function operandsOf(words: readonly Word[], program: string, isStrict: boolean): Operand[] {
  const takesValue = GLOBAL_VALUES[program]
  const operands: Operand[] = []
  for (let at = 0; at < words.length; at++) {
    const { text } = words[at]!
    if (text === "--") {
      for (const word of words.slice(at + 1)) operands.push({ text: word.text, mayBeValue: false })
      break
    }
    if (isOption(text)) {
      if (takesValue?.has(text) === true && operands.length === 0) at++
      continue
    }
    const before = words[at - 1]?.text ?? ""
    operands.push({ text, mayBeValue: !isStrict && isOption(before) && !before.includes("=") })
  }
  return operands
}

function matchesOperands(patterns: readonly string[], operands: readonly Operand[]): boolean {
  // Few patterns and a set of positions: no more work than one times the other.
  let positions = new Set([0])
  for (const pattern of patterns) {
    const next = new Set<number>()
    for (const from of positions) {
      for (let at = from; at < operands.length; at++) {
        const { text, mayBeValue } = operands[at]!
        if (pattern === "*" || matchesName(pattern, isWild(pattern) ? text.slice(0, 4096) : text)) next.add(at + 1)
        if (!mayBeValue) break
      }
    }
    if (next.size === 0) return false
    positions = next
  }
  return true
}
