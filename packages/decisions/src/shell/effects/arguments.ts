import type { Word } from "../command.js"
import type { PathUse } from "./effects.js"

/** The words behind a program, told apart into options and operands. */
export interface Arguments {
  readonly operands: readonly Word[]
  /** Values by option as written, `-o` or `--output`. */
  readonly values: ReadonlyMap<string, readonly Word[]>
  /** Every option word as written, and every letter of a cluster such as `-rf`. */
  readonly flags: ReadonlySet<string>
}

/** `valueOptions` are the options whose value is the next word, unless it is in the same one. */
export function readArguments(words: readonly Word[], valueOptions = ""): Arguments {
  const takesValue = optionSet(valueOptions)
  const operands: Word[] = []
  const values = new Map<string, Word[]>()
  const flags = new Set<string>()
  const keep = (option: string, value: Word): void => {
    const kept = values.get(option)
    if (kept === undefined) values.set(option, [value])
    else kept.push(value)
  }
  for (let at = 1; at < words.length; at++) {
    const word = words[at]!
    const { text } = word
    if (text === "--") {
      operands.push(...words.slice(at + 1))
      break
    }
    if (!text.startsWith("-") || text === "-") {
      operands.push(word)
      continue
    }
    const equals = text.indexOf("=")
    if (takesValue.has(text)) {
      flags.add(text)
      const value = words[++at]
      if (value !== undefined) keep(text, value)
    } else if (text.startsWith("--") && equals > 0) {
      flags.add(text.slice(0, equals))
      keep(text.slice(0, equals), { ...word, text: text.slice(equals + 1) })
    } else if (!text.startsWith("--") && takesValue.has(text.slice(0, 2))) {
      flags.add(text.slice(0, 2))
      keep(text.slice(0, 2), { ...word, text: text.slice(2) })
    } else {
      flags.add(text)
      if (!text.startsWith("--")) for (const letter of text.slice(1)) flags.add(`-${letter}`)
      // In a cluster the last letter may take the next word: `tar -xzf a.tgz`.
      const last = `-${text.at(-1)}`
      if (!text.startsWith("--") && text.length > 2 && takesValue.has(last)) {
        const value = words[++at]
        if (value !== undefined) keep(last, value)
      }
    }
  }
  return { operands, values, flags }
}

const optionSets = new Map<string, ReadonlySet<string>>()

/** The lists are constants of this package, so there are only so many of them. */
function optionSet(options: string): ReadonlySet<string> {
  const known = optionSets.get(options)
  if (known !== undefined) return known
  const set = new Set(options.split(" "))
  optionSets.set(options, set)
  return set
}

export const valuesOf = (args: Arguments, ...options: readonly string[]): readonly Word[] =>
  options.flatMap((option) => args.values.get(option) ?? [])

export const hasAny = (args: Arguments, ...options: readonly string[]): boolean =>
  options.some((option) => args.flags.has(option))

export const files = (words: readonly Word[]): PathUse[] => words.map((word) => ({ word, isTree: false }))
export const trees = (words: readonly Word[]): PathUse[] => words.map((word) => ({ word, isTree: true }))
export const here: Word = { text: ".", isKnown: true, hasGlob: false }

/** A path as it is from a folder that a program is told to work in. */
export function under(folder: Word, path: Word): Word {
  if (path.text.startsWith("/")) return path
  return {
    text: `${folder.text}/${path.text}`,
    isKnown: folder.isKnown && path.isKnown,
    hasGlob: folder.hasGlob || path.hasGlob,
  }
}
