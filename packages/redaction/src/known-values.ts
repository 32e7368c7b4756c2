import { joined, KNOWN_VALUE, type Secret } from "./find-secrets.js"
import { MASK_MIDDLE } from "./mask.js"
import { PatternIndex } from "./pattern-index.js"
import { isPlaceholder } from "./rules/placeholder.js"
import { isAlphanumeric } from "./text-edges.js"
import { valueForms } from "./value-forms.js"

/**
 * The secrets that are known by now, to be masked wherever they stand again, in every form they may be written in: beside no name, in the
 * middle of another word, encoded. In memory only, and only so many: those that were found last stay.
 *
 * ```ts
 * const known = new KnownValues()
 * const ruleset = createRuleset({ key, known })
 * redactText('password = "tr0ub4dor&3x"', ruleset)
 * redactText("log in with tr0ub4dor&3x", ruleset).text // "log in with tr…redacted…3x"
 * ```
 */
export class KnownValues {
  readonly #most: number
  /** Those found last stand last. */
  readonly #values = new Set<string>()
  readonly #pinned = new Set<string>()
  #index = new Indexes()

  constructor({ most = MOST_VALUES }: { readonly most?: number } = {}) {
    this.#most = most
  }

  get size(): number {
    return this.#values.size
  }

  learn(secret: string): void {
    for (const value of valuesOf(secret)) this.#learnOne(value)
  }

  /** What is known by now is never forgotten. */
  pin(): void {
    for (const value of this.#values) this.#pinned.add(value)
  }

  #learnOne(value: string): void {
    if (this.#values.delete(value)) {
      this.#values.add(value)
      return
    }
    if (!isWorthKnowing(value)) return
    this.#values.add(value)
    if (this.#values.size > this.#most) this.#forgetSome()
    else this.#index.add(value)
  }

  // A quarter at once: taking single values out of the index would cost more than building it again now and then.
  #forgetSome(): void {
    let count = this.#values.size / 4
    for (const value of this.#values) {
      if (count <= 0) break
      if (this.#pinned.has(value)) continue
      this.#values.delete(value)
      count--
    }
    this.#index = new Indexes()
    for (const value of this.#values) this.#index.add(value)
  }

  /** Where known values stand in a text, in order and apart from each other. */
  findIn(text: string): readonly Secret[] {
    if (text.length < this.#index.shortest) return NONE
    return this.#index.findIn(text)
  }

  /** The same in bytes, counted in bytes. */
  findInBytes(bytes: Uint8Array): readonly Secret[] {
    if (bytes.length < this.#index.shortest) return NONE
    return this.#index.findInBytes(bytes)
  }

  /** From here on a known value of several words may have begun that the text does not end. Infinity where none has. */
  openAt(text: string): number {
    return this.#index.openAt(text)
  }
}

const NONE: readonly Secret[] = Object.freeze([])
const MOST_VALUES = 8192
/** Longer ones have a window of twelve bytes to be known by; shorter ones a table of their own, and they count as whole words only. */
const SHORT = 12
const SHORTEST = 6
/** Longer than tokens get. Of a private key each line is known for itself. */
const LONGEST = 4096
const MOST_SHORT = 1024
const MOST_SPACED = 64

class Indexes {
  shortest = Number.POSITIVE_INFINITY
  #long: PatternIndex<string> | undefined
  #short: PatternIndex<string> | undefined
  readonly #spaced: string[] = []

  add(value: string): void {
    for (const form of valueForms(value)) {
      if (form.length < SHORTEST) continue
      if (form.length < SHORT) {
        if ((this.#short?.size ?? 0) >= MOST_SHORT) continue
        this.#short ??= new PatternIndex(SHORTEST, 16)
        this.#short.add({ text: form, about: value })
      } else {
        this.#long ??= new PatternIndex(SHORT, 18)
        this.#long.add({ text: form, about: value })
      }
      this.shortest = Math.min(this.shortest, form.length)
    }
    if (OVER_WORDS.test(value) && this.#spaced.length < MOST_SPACED) this.#spaced.push(value)
  }

  findIn(text: string): readonly Secret[] {
    const found: Secret[] = []
    const keep = (start: number, end: number, plain: string): void => {
      if (end - start >= SHORT || isWholeWord(text.charCodeAt(start - 1), text.charCodeAt(end)))
        found.push({ start, end, rule: KNOWN_VALUE, plain })
    }
    this.#long?.scanText(text, keep)
    this.#short?.scanText(text, keep)
    return found.length === 0 ? NONE : joined(found)
  }

  findInBytes(bytes: Uint8Array): readonly Secret[] {
    const found: Secret[] = []
    const keep = (start: number, end: number, plain: string): void => {
      if (end - start >= SHORT || isWholeWord(bytes[start - 1] ?? 0, bytes[end] ?? 0))
        found.push({ start, end, rule: KNOWN_VALUE, plain })
    }
    this.#long?.scanBytes(bytes, keep)
    this.#short?.scanBytes(bytes, keep)
    return found.length === 0 ? NONE : joined(found)
  }

  openAt(text: string): number {
    let openAt = Number.POSITIVE_INFINITY
    for (const value of this.#spaced) {
      const first = value.charAt(0)
      const earliest = Math.max(0, text.length - value.length + 1)
      for (let at = text.indexOf(first, earliest); at >= 0 && at < openAt; at = text.indexOf(first, at + 1)) {
        if (value.startsWith(text.slice(at))) openAt = at
      }
    }
    return openAt
  }
}

/** A stream holds back the word that is being written, and a script without spaces has none. */
const OVER_WORDS = /[\s\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3001-\u9fff\uf900-\ufaff]/

const isWholeWord = (before: number, behind: number): boolean =>
  !isAlphanumeric(before) && before !== UNDERSCORE && !isAlphanumeric(behind) && behind !== UNDERSCORE
const UNDERSCORE = 0x5f

/** What of a secret would be known again: of a private key its lines, of text inside JSON what the JSON says. */
function valuesOf(secret: string): readonly string[] {
  if (secret.includes("\n") || /\\+n/.test(secret)) {
    const lines = secret.split(/\\+[nr]|[\r\n]/).map((line) => line.trim())
    // The first line of the block says what kind of key it is, and so do its first characters, alike for all.
    return lines.filter((line) => KEY_LINE.test(line)).slice(1, MOST_LINES)
  }
  if (!secret.includes("\\")) return [secret.trim()]
  try {
    return [secret.trim(), String(JSON.parse(`"${secret.trim()}"`))]
  } catch {
    return [secret.trim()]
  }
}

const KEY_LINE = /^[\w+/=-]{32,128}$/
const MOST_LINES = 64

/**
 * A word that also stands for something else must not be masked everywhere because a user once chose it as a password: words, names of
 * things, numbers, places.
 */
function isWorthKnowing(value: string): boolean {
  if (value.length < SHORTEST || value.length > LONGEST) return false
  if (value.includes(MASK_MIDDLE) || isPlaceholder(value) || PLACE.test(value)) return false
  if (!/[A-Za-z]/.test(value)) return value.length >= 16 && new Set(value).size >= 6
  if (value.length < SHORT) return !COUNTED_WORD.test(value) && /[^A-Za-z\s]/.test(value) && !NAME.test(value)
  if (NAME.test(value)) return caseChanges(value) >= 4
  return true
}

const PLACE = /^(?:~|\.{1,2})?\/[^@=+]*$|^[A-Za-z]:\\|^[a-z][a-z0-9+.-]{1,15}:\/\/[^@]*$/
/** `admin1`, `version-2`. */
const COUNTED_WORD = /^[A-Za-z]+[._-]?\d{1,4}$/
/** Nothing but letters, and what joins the words of a name. */
const NAME = /^[A-Za-z]+(?:[._:/-][A-Za-z]+)*$/

/** From a small letter to a capital: chance does that all the time, a name once a word. */
function caseChanges(value: string): number {
  return value.match(/[a-z][A-Z]/g)?.length ?? 0
}
