import type { Word } from "./command.js"
import type { Scope } from "./scope.js"
import type { Part, RawWord } from "./syntax.js"

/** Words one word may become before it counts as unknown. */
const MAX_FIELDS = 64
const MAX_LENGTH = 65_536
const MAX_BRACED_PARTS = 256

export interface Expansion {
  readonly words: readonly Word[]
  /** Whether they stand beside each other (`$FLAGS`) or instead of each other (a variable with several possible values). */
  readonly isChoice: boolean
}

export interface ExpansionRules {
  /** Variables whose value changes in ways the order of the text does not show. */
  readonly unreliable: ReadonlySet<string>
  /** Called for every substitution inside the word. */
  readonly onScript: (part: Part & { kind: "script" }) => void
  /** Charges the characters an expansion makes; false when the text has used up its allowance. */
  readonly spend: (characters: number) => boolean
}

/** What a word becomes: quotes removed, braces and variables expanded, split where the shell splits. */
export function expandWord(word: RawWord, scope: Scope, rules: ExpansionRules): Expansion {
  // The common case: one literal.
  if (word.parts.length === 1) {
    const only = word.parts[0]!
    if (only.kind === "text") return { words: [literal(only.text, only.isQuoted)], isChoice: false }
  }
  const words: Word[] = []
  let isChoice = false
  for (const parts of expandBraces(word.parts)) {
    const expansion = expandParts(parts, scope, rules)
    isChoice ||= expansion.isChoice
    for (const one of expansion.words) if (words.length < MAX_FIELDS) words.push(one)
  }
  for (const part of word.parts) runScripts(part, rules)
  return { words, isChoice }
}

/** The value of a word that is never split: an assignment, a here-document, the target of a redirection. */
export function expandWhole(word: RawWord, scope: Scope, rules: ExpansionRules): Word {
  const parts = word.parts.map((part): Part => {
    if (part.kind === "brace") return { kind: "text", text: part.text, isQuoted: false }
    return part.kind === "text" ? part : { ...part, isQuoted: true }
  })
  const { words, isChoice } = expandWord({ ...word, parts }, scope, rules)
  const first = words[0]
  if (first === undefined) return { text: "", isKnown: true, hasGlob: false }
  return isChoice ? { ...first, isKnown: false } : first
}

function runScripts(part: Part, rules: ExpansionRules): void {
  if (part.kind === "script") rules.onScript(part)
  else if (part.kind === "unknown") for (const inner of part.parts) runScripts(inner, rules)
}

const GLOB = /[*?[]/

function literal(text: string, isQuoted: boolean): Word {
  // A quoted tilde is a file of that name, not the home folder.
  if (isQuoted && text.startsWith("~")) return { text: `./${text}`, isKnown: true, hasGlob: false }
  return { text, isKnown: true, hasGlob: !isQuoted && GLOB.test(text) }
}

/** A word in the making. */
interface Field {
  text: string
  isKnown: boolean
  hasGlob: boolean
  /** Quotes make a word even of nothing. */
  exists: boolean
}
interface Reading {
  readonly done: Word[]
  field: Field
}

const emptyField = (): Field => ({ text: "", isKnown: true, hasGlob: false, exists: false })

function expandParts(parts: readonly Part[], scope: Scope, rules: ExpansionRules): Expansion {
  let readings: Reading[] = [{ done: [], field: emptyField() }]
  for (const part of parts) {
    if (part.kind === "text") {
      for (const { field } of readings) appendText(field, part.text, part.isQuoted)
      continue
    }
    if (part.kind === "brace") {
      for (const { field } of readings) appendText(field, part.text, false)
      continue
    }
    const values = part.kind === "variable" ? valuesOf(part.name, scope, readings, rules) : undefined
    if (values === undefined || values.length * readings.length > 16) {
      for (const { field } of readings) appendUnknown(field, part.raw)
      continue
    }
    readings = values.flatMap((value) =>
      readings.map(({ done, field }) => {
        const reading: Reading = { done: [...done], field: { ...field } }
        appendValue(reading, value, part.isQuoted, rules)
        return reading
      }),
    )
  }
  const words: Word[] = []
  for (const { done, field } of readings) {
    words.push(...done)
    if (field.exists) words.push({ text: field.text, isKnown: field.isKnown, hasGlob: field.hasGlob })
  }
  return { words, isChoice: readings.length > 1 }
}

function valuesOf(
  name: string,
  scope: Scope,
  readings: readonly Reading[],
  rules: ExpansionRules,
): readonly string[] | undefined {
  if (rules.unreliable.has(name)) return undefined
  const values = scope.valuesOf(name)
  if (values !== undefined) return values
  if (name === "IFS") return [" \t\n"]
  // At the start of a word these name folders that paths can be told in, whatever their absolute place is.
  const isAtStart = readings.every(({ field }) => field.text === "")
  if (name === "HOME" && isAtStart) return ["~"]
  if (name === "PWD" && isAtStart) return ["."]
  return undefined
}

function appendText(field: Field, text: string, isQuoted: boolean): void {
  if (isQuoted && !field.exists && text.startsWith("~")) field.text = "./"
  if (!isQuoted && GLOB.test(text)) field.hasGlob = true
  if (field.text.length + text.length > MAX_LENGTH) field.isKnown = false
  else field.text += text
  field.exists = true
}

function appendUnknown(field: Field, raw: string): void {
  if (field.text.length + raw.length <= MAX_LENGTH) field.text += raw
  field.isKnown = false
  field.exists = true
}

function appendValue(reading: Reading, value: string, isQuoted: boolean, rules: ExpansionRules): void {
  if (!rules.spend(value.length)) {
    reading.field.isKnown = false
    return
  }
  if (isQuoted || !/[ \t\n]/.test(value)) {
    if (value !== "" || isQuoted) appendText(reading.field, value, isQuoted)
    return
  }
  const pieces = value.split(/[ \t\n]+/)
  pieces.forEach((piece, index) => {
    if (index > 0 && reading.field.exists) {
      if (reading.done.length < MAX_FIELDS) reading.done.push({ ...reading.field })
      reading.field = emptyField()
    }
    if (piece !== "") appendText(reading.field, piece, false)
  })
}

/** `a{b,c}d` as `abd` and `acd`. Braces without a comma stand for themselves; a range such as `{1..9}` makes the word unknown. */
function expandBraces(parts: readonly Part[]): readonly (readonly Part[])[] {
  if (!parts.some((part) => part.kind === "brace" && part.text === "{")) return [parts]
  if (parts.length > MAX_BRACED_PARTS) return [[{ kind: "unknown", parts: [], isQuoted: false, raw: "{…}" }]]
  const open = parts.findIndex((part) => part.kind === "brace" && part.text === "{")
  let depth = 0
  const commas: number[] = []
  for (let at = open; at < parts.length; at++) {
    const part = parts[at]!
    if (part.kind !== "brace") continue
    if (part.text === "{") depth++
    else if (part.text === ",") {
      if (depth === 1) commas.push(at)
    } else if (--depth === 0) {
      const before = parts.slice(0, open)
      const after = expandBraces(parts.slice(at + 1))
      const middles = commas.length === 0 ? withoutChoice(parts, open, at) : choices(parts, open, at, commas)
      const results: Part[][] = []
      for (const middle of middles) {
        for (const rest of after) {
          if (results.length >= MAX_FIELDS) {
            const raw: Part = { kind: "unknown", parts: [], isQuoted: false, raw: "{…}" }
            return [[...before, raw]]
          }
          results.push([...before, ...middle, ...rest])
        }
      }
      return results
    }
  }
  return [parts]
}

function choices(parts: readonly Part[], open: number, close: number, commas: readonly number[]): Part[][] {
  const bounds = [open, ...commas, close]
  return bounds.slice(1).flatMap((end, index) => {
    const choice = expandBraces(parts.slice((bounds[index] as number) + 1, end))
    return choice.map((one) => [...one])
  })
}

function withoutChoice(parts: readonly Part[], open: number, close: number): Part[][] {
  const inner = parts.slice(open + 1, close)
  const only = inner.length === 1 ? inner[0] : undefined
  if (only?.kind === "text" && !only.isQuoted && /^-?\w+\.\.-?\w+(?:\.\.-?\d+)?$/.test(only.text)) {
    return [[{ kind: "unknown", parts: [], isQuoted: false, raw: `{${only.text}}` }]]
  }
  return expandBraces(inner).map((middle) => [parts[open]!, ...middle, parts[close]!])
}
