import { KNOWN_CLIENTS, type KnownClient } from "./known-clients.js"

/** A command line that starts a client we know. */
export interface ClientCommand {
  readonly client: KnownClient
  /** The words up to the client itself: `npx -y @openai/codex`. */
  readonly start: readonly string[]
  readonly args: readonly string[]
}

/** Which client a command starts, by whatever it is started: its own name, a path to its file, a package runner, a module. */
export function clientCommand(command: readonly string[]): ClientCommand | undefined {
  const at = programAt(command)
  const word = command[at]
  if (word === undefined) return undefined
  const names = namesIn(word)
  const client = KNOWN_CLIENTS.find(({ startedAs }) => startedAs.some((name) => names.has(name)))
  return client && { client, start: command.slice(0, at + 1), args: command.slice(at + 1) }
}

/** Programs that only start another one, which is the next word that is none of theirs. */
const LAUNCHERS =
  /^(?:node|bun|deno|npx|bunx|pnpx|npm|pnpm|yarn|uvx?|pipx|pythonw?[\d.]*|env|nohup|time|timeout|nice|sudo|exec)$/
const LAUNCHER_WORDS = new Set(["exec", "dlx", "x", "run", "tool"])
/** Their options that take the next word. `python -m` is none: its word is the program. */
const WITH_VALUE = new Set([
  "-p",
  "--package",
  "--from",
  "--with",
  "--python",
  "--spec",
  "-r",
  "--require",
  "--import",
  "-u",
])

function programAt(command: readonly string[]): number {
  let at = 0
  while (at < command.length && LAUNCHERS.test(baseName(command[at]!))) {
    at++
    while (at < command.length && isLaunchersOwn(command[at]!)) at += WITH_VALUE.has(command[at]!) ? 2 : 1
  }
  return at
}

const isLaunchersOwn = (word: string): boolean =>
  word.startsWith("-") || /^\w+=|^[\d.]+[smhd]?$/.test(word) || LAUNCHER_WORDS.has(word)

const baseName = (word: string): string =>
  word
    .split(/[\\/]/)
    .at(-1)!
    .replace(/\.(?:[cm]?js|ts|py|exe|cmd|ps1)$/i, "")

/** The names a word may be a client's by: of the program, of the package its file is in, of a package with a version, of a module. */
function namesIn(word: string): ReadonlySet<string> {
  const isPackage = /^@[\w.-]+\/[\w.-]+(?:@|$)/.test(word) || !/[\\/]/.test(word)
  const names = new Set([baseName(word)])
  if (isPackage) {
    const plain = word.replace(/(?!^)@.*$|[[=<>~].*$/, "")
    names.add(plain).add(plain.split(".", 1)[0]!)
  }
  const segments = word.split(/[\\/]/)
  for (const [index, segment] of segments.entries()) {
    if (segments[index - 1] === "node_modules" && !segment.startsWith("@")) names.add(segment)
    if (segment.startsWith("@") && segments[index + 1]) names.add(`${segment}/${segments[index + 1]}`)
  }
  return names
}
