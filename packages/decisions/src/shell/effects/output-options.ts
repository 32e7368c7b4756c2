import type { Word } from "../command.js"
import { readArguments, trees, valuesOf } from "./arguments.js"
import type { PathUse } from "./effects.js"
import { BUILDERS } from "./quiet.js"

const OUTPUT =
  "-o --output --out --outfile --out-file --outDir --outdir --out-dir --output-dir --output-path --target-dir --build-dir --log-file"

/** Beside builders: programs that run or show something, and write down what they saw. */
const WITH_OUTPUT = new Set(["strace", "ltrace", "time", "gtime", "less", "perf", "valgrind"])

const PIP = "-t --target --root --prefix -d --dest -w --wheel-dir --src --report --log"

const OWN: Readonly<Record<string, string>> = {
  pip: PIP,
  pip3: PIP,
  cmake: "-B --install-prefix --prefix",
  mktemp: "-p --tmpdir",
}

/** Where a program is told to put what it makes. Builds write where their configuration says, and there they are told on the command line. */
export function outputsOf(program: string, words: readonly Word[]): readonly PathUse[] {
  const own = Object.hasOwn(OWN, program) ? OWN[program] : undefined
  const options = own ?? (BUILDERS.has(program) || WITH_OUTPUT.has(program) ? OUTPUT : undefined)
  if (options === undefined || words.length < 3) return NONE
  return trees(valuesOf(readArguments(words, options), ...options.split(" ")))
}

const NONE: readonly PathUse[] = []
