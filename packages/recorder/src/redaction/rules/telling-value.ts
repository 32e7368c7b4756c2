import { isMask } from "../mask.js"
import { isDigit, isLetter } from "../text-edges.js"
import { isPlaceholder } from "./placeholder.js"
import type { NameKind } from "./telling-name.js"
import { wordList } from "./word-list.js"

/** Whether a value can be the secret that its name promises. The less the name says, the more the value has to look like one. */
export function isSecretValue(value: string, kind: NameKind, quoting: Quoting): boolean {
  if (value.length < 5 || isMask(value) || isPlaceholder(value) || ALPHABET.test(value)) return false
  const isChosen = quoting === "quoted" && looksChosen(value)
  switch (kind) {
    case "password":
      return isChosen || looksTyped(value, quoting) || (quoting === "quoted" && isPlainPassword(value))
    case "secret":
      return isChosen || looksRandom(value, 10) || (looksTyped(value, quoting) && !TOKEN.test(value))
    case "token":
    case "key":
      return looksRandom(value, 14) || (isChosen && isNoToken(value))
    default:
      // The vendor says what its keys look like; whatever else has their name is something about them.
      return KEY_FORMATS[kind].test(value) ? looksRandom(value, 40) : isChosen && isNoToken(value)
  }
}

/** `named`: in quotes, but only near the name, as in a sentence. */
export type Quoting = "quoted" | "named" | "bare"

const KEY_FORMATS = {
  "access-key": /^[\w+/=-]{40,}$/,
  "aws-key": /^[A-Za-z0-9+/]{40}$/,
  "ibm-key": /^[\w-]{44}$/,
  "softlayer-key": /^[a-z0-9]{64}$/,
} as const

/** Holds what no vendor puts into a token: then a person made it up. */
const isNoToken = (value: string): boolean => !TOKEN.test(value) && !/[\s:\\]/.test(value)

/** Nobody draws the alphabet by lot. */
const ALPHABET = /abcdefghij|qrstuvwxyz/i
const TOKEN = /^[\w.~+/=%|^@!#$&*-]+$/
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** What joins a machine to a Kubernetes cluster. */
const BOOTSTRAP = /^[a-z0-9]{6}\.[a-z0-9]{16}$/
const TELEGRAM = /^\d{5,16}:A[\w-]{34}$/

/**
 * Whether a value looks drawn by lot: letters and digits change places too often for words and numbers. Names of models and versions
 * (`claude-3-5-sonnet-20241022`) keep theirs apart.
 */
export function looksRandom(value: string, shortest: number): boolean {
  if (value.length < shortest) return false
  if (!TOKEN.test(value)) return TELEGRAM.test(value)
  if (UUID.test(value) || BOOTSTRAP.test(value)) return true
  if (isCode(value) || isNamed(value)) return false
  const { digits, letters, changes, caseChanges, words } = traitsOf(value)
  if (letters === 0) return digits >= 16 && digits === value.length && entropyOf(value) >= 2
  if (entropyOf(value) < 2.7) return false
  if (changes >= 3 && changes * 16 >= value.length) return true
  if (digits > 0 && caseChanges >= 4 && words * 5 >= value.length * 2) return true
  return value.length >= 20 && caseChanges >= 8 && caseChanges * 4 >= value.length
}

/** What a person would choose as a password, in quotes: anything but a plain word. */
function looksChosen(value: string): boolean {
  if (value.length < 6 || value.length > 80 || isCode(value)) return false
  if (isNamed(value) && /^[A-Za-z_. -]+$/.test(value)) return false
  if (/^[A-Za-z_]+$/.test(value)) return false
  if (/\s/.test(value)) return value.length >= 8 && !/[.?!:,](?:\s|$)|^[A-Z][a-z]+ [a-z]/.test(value)
  return true
}

/** A plain word, where nothing but a password can stand: not what a form, a schema or an error message says about passwords. */
function isPlainPassword(value: string): boolean {
  return /^[A-Za-z]{6,32}$/.test(value) && !isNamed(value) && !ABOUT_PASSWORDS.has(value.toLowerCase())
}
const ABOUT_PASSWORDS = wordList(`
  string required optional hidden invalid incorrect missing number boolean object undefined unknown default varchar
  integer enabled disabled username encrypted hashed plaintext redacted change forgot update create delete submit
  confirm strong masked filtered removed protected example sample
`)

/** The same without quotes, where it could as well be a word, a number or a piece of code. */
function looksTyped(value: string, quoting: Quoting): boolean {
  if (value.length < 8 || (quoting === "bare" && (isNamed(value) || isCode(value)))) return false
  if (value.length >= 12 && new Set(value.replace(/[\w\s.,:;-]/g, "")).size >= 4) return true
  return /\d/.test(value) && /[A-Za-z]/.test(value) && !/^[A-Z]?[a-z]+[._-]?\d{1,3}$/.test(value)
}

/** A member, a call, an index, a path, an address: something that is looked up, not the thing itself. */
function isCode(value: string): boolean {
  return (
    /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+\(?$|^[A-Za-z_$][\w$.]*(?:[([]|->|::)|^\.{0,2}\/[\w.-]+\/|^[a-z][a-z0-9+]{1,12}:\/\//.test(
      value,
    ) && !/^[\w-]{10,40}\.[\w-]{20,}/.test(value)
  )
}

const isNamed = (value: string): boolean => /passw|passphrase|secret|token|api[_-]?key|credential/i.test(value)

interface Traits {
  readonly digits: number
  readonly letters: number
  /** From letters to digits and back. */
  readonly changes: number
  readonly caseChanges: number
  /** Runs of one kind; a capital with small letters behind it counts as one, as in camelCase. */
  readonly words: number
}

function traitsOf(value: string): Traits {
  let words = 0
  let digits = 0
  let letters = 0
  let changes = 0
  let caseChanges = 0
  let before = 0
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    const now = isDigit(code) ? DIGIT : isLetter(code) ? (code < 0x61 ? UPPER : LOWER) : OTHER
    if (now === DIGIT) digits++
    else if (now !== OTHER) letters++
    if (now !== before && now !== OTHER && !(now === LOWER && before === UPPER)) words++
    if (now !== before && now !== OTHER && before !== OTHER) {
      if (now === DIGIT || before === DIGIT) changes++
      else caseChanges++
    }
    before = now
  }
  return { digits, letters, changes, caseChanges, words }
}
const OTHER = 0
const DIGIT = 1
const LOWER = 2
const UPPER = 3

function entropyOf(value: string): number {
  const counts = new Map<string, number>()
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1)
  let entropy = 0
  for (const count of counts.values()) entropy -= (count / value.length) * Math.log2(count / value.length)
  return entropy
}
