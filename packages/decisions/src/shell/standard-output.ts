import type { Word } from "./command.js"
import { type Input, knownWord, unknownWord } from "./wrappers.js"

/** What a command prints, where the text tells: enough to read the script in `echo 'rm -r x' | sh`. */
export function outputOf(program: string, words: readonly Word[], input: Input): Word {
  const operands = words.slice(1)
  if (operands.some((word) => !word.isKnown || word.hasGlob)) return unknownWord("")
  const texts = operands.map((word) => word.text)
  if (program === "cat" || program === "tee") {
    return program === "cat" && texts.some((text) => text !== "-") ? unknownWord("") : (input ?? unknownWord(""))
  }
  if (program === "echo") {
    const isOption = /^-[neE]+$/.test(texts[0] ?? "")
    const rest = (isOption ? texts.slice(1) : texts).join(" ")
    // Shells differ in whether echo reads backslashes.
    return rest.includes("\\") ? unknownWord("") : knownWord(`${rest}\n`)
  }
  if (program === "printf") {
    const [format = "", ...values] = texts
    const simple = /^(?:%s(?:\\n| )?)$/.exec(format)
    if (simple !== null) return knownWord(values.join("\n"))
    return /[%\\]/.test(format.replaceAll("\\n", "")) ? unknownWord("") : knownWord(format.replaceAll("\\n", "\n"))
  }
  return unknownWord("")
}
