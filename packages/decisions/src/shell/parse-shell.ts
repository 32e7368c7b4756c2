import type { ShellReading } from "./command.js"
import { Interpreter } from "./interpret.js"
import { Scope } from "./scope.js"

/** A command line longer than this is read to here and no further. */
const MAX_SHELL_TEXT = 262_144

/** `IFS= read` and `IFS=, read` split only what is read. */
const SPLITS_OTHERWISE = /\bIFS=(?!(?:'[^'\n]*'|"[^"\n]*"|\$'[^'\n]*'|[^\s;&|'"]*)[ \t]+(?:read|mapfile|readarray)\b)/

// Why not a parser from npm: unbash 6.0.3 reads what people write as well as this one, but on 90 kB of `{a,` it works for 27 s, on 100 kB of
// `$(` for 13 s, and `f() f() …` overflows its stack. A text here is whatever an agent, or a text that it was sent, came up with.

/**
 * Reads POSIX and bash command text: which commands it may run, with their words as the shell would see them, the scripts handed to other
 * shells, the commands in substitutions. Never throws, and its work grows with the length of the text only. What cannot be known without
 * running it is said: `dynamic` on the command, `isKnown` on the word, `isCertain` on the whole.
 *
 *     parseShell("cd infra && sudo sh -c 'rm -rf \"$1\"' _ ci").commands.at(-1)
 *     // { program: "rm", words: [rm, -rf, ci], cwds: ["infra"], … }
 */
export function parseShell(text: string): ShellReading {
  const kept = text.length > MAX_SHELL_TEXT ? text.slice(0, MAX_SHELL_TEXT) : text
  const allowance = { steps: 32 * kept.length + 65_536, problems: [] }
  const interpreter = new Interpreter(allowance)
  const scope = new Scope(undefined, "here", [""])
  interpreter.read(kept, scope)
  const problems = [...interpreter.problems]
  const splitting = SPLITS_OTHERWISE.exec(kept)
  if (splitting !== null) problems.push({ position: splitting.index, reason: "the text changes how words are split" })
  if (kept !== text)
    problems.push({ position: MAX_SHELL_TEXT, reason: `only the first ${MAX_SHELL_TEXT} characters were read` })
  const { commands } = interpreter
  const endsIn = scope.cwds
  return {
    commands,
    problems,
    endsIn,
    isCertain: problems.length === 0 && commands.every((one) => one.dynamic === undefined),
  }
}
