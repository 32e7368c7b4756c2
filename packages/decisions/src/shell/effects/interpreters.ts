import type { Word } from "../command.js"
import { type EffectReader, files, readArguments } from "./arguments.js"
import { running } from "./effects.js"
import { hostsOf } from "./hosts.js"

/** Programs that run code the command holds or names: what the code does is not told by reading the command. */
export const INTERPRETERS: Readonly<Record<string, EffectReader>> = {
  ...Object.fromEntries(
    [
      "python",
      "python2",
      "python3",
      "py",
      "pypy",
      "node",
      "nodejs",
      "deno",
      "bun",
      "tsx",
      "ts-node",
      "perl",
      "ruby",
      "php",
      "lua",
      "Rscript",
      "osascript",
      "julia",
      "pwsh",
      "powershell",
      "tclsh",
      "groovy",
      "scala",
      "irb",
    ].map((name) => [name, interpreter]),
  ),
  awk,
  gawk: awk,
  mawk: awk,
  hash: (words) => (words.some(({ text }) => text === "-p") ? running("it gives a program another name") : {}),
  enable: (words) => (words.some(({ text }) => text === "-f") ? running("it loads a program") : {}),
  fc: () => running("it runs an earlier command"),
  source: () => running("it runs a script"),
  ".": () => running("it runs a script"),
}

export function interpreter(words: readonly Word[]): ReturnType<EffectReader> {
  const { operands, flags } = readArguments(words, "-m -W -X -r --require --import -I")
  if (flags.has("--version") || flags.has("-V") || flags.has("--help") || flags.has("-v")) return {}
  const isInline = ["-c", "-e", "-p", "--eval", "--print", "-E", "-pe", "-ne", "-n", "-i"].some((flag) =>
    flags.has(flag),
  )
  if (isInline) return running("it runs code given on the command line")
  const script = operands[0]
  if (script === undefined) return running("it runs code from its input")
  if (/^https?:\/\//i.test(script.text))
    return { network: hostsOf([script]), ...running("it runs a program from elsewhere") }
  return { reads: files([script]), ...running(`it runs the program ${script.text}`) }
}

function awk(words: readonly Word[]): ReturnType<EffectReader> {
  const args = readArguments(words, "-F -v -f -i --include")
  const program = args.operands[0]
  const isPlain =
    program?.isKnown === true &&
    !args.values.has("-f") &&
    !args.values.has("-i") &&
    !/system|getline|[>|]\s*["(\w$]|@load/.test(program.text)
  return {
    reads: files(args.operands.slice(1)),
    ...(!isPlain && running("its program may run commands and write files")),
  }
}
