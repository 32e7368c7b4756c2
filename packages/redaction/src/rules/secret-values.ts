import { MASK_MIDDLE } from "../mask.js"
import { isDigit, isLetter } from "../text-edges.js"
import { countLetterPairs, readsLikeName } from "./letter-pairs.js"
import { isPlaceholder } from "./placeholder.js"
import { VALUES } from "./rules.generated.js"
import type { NameKind } from "./secret-names.js"
import { wordList } from "./word-list.js"

/**
 * Whether a value can be the secret that its name promises. A password, secret or passphrase may be anything that is not plainly something
 * else: a placeholder, a reference, code, a word about passwords. The less the name says, the more the value has to look like one.
 */
export function isSecretValue(value: string, kind: NameKind, stated: Quoting): boolean {
  const quoting = stated === "assigned" ? "literal" : stated
  // What holds a mask was judged together with the secret that the mask hides, and is not judged again without it. Forms of their own are
  // found beside a mask all the same.
  const braced = IN_BRACES.exec(value)?.[1]
  if (braced !== undefined && looksRandom(braced, 14)) return true
  if (value.length < 5 || HOLDS_MASK.test(value) || isPlaceholder(value) || ANONYMOUS.test(value)) return false
  if (isSentence(value)) return false
  const isChosen = quoting === "quoted" && looksChosen(value)
  const isGiven = isChosen || (quoting === "literal" && !PATH.test(value) && looksChosen(value, quoting))
  switch (kind) {
    case "password":
      if (quoting === "literal" && !PATH.test(value) && isPlainPassword(value)) return true
      return isGiven || looksTyped(value, quoting) || (quoting === "quoted" && isPlainPassword(value))
    case "secret":
      return (
        (isGiven && !ALPHABET.test(value)) ||
        looksRandom(value, 10) ||
        isUnlikeNames(value, quoting) ||
        (looksTyped(value, quoting) && (!TOKEN.test(value) || signsIn(value) >= 3))
      )
    case "connection":
      return quoting !== "bare" && value.length >= 12 && /[=@;]/.test(value) && !isCode(value)
    case "token":
    case "key":
      return (
        looksRandom(value, stated === "assigned" ? 10 : 14) ||
        (isGiven && (stated === "assigned" || isNoToken(value) || hasEveryKind(value))) ||
        isUnlikeNames(value, quoting)
      )
    default:
      // The vendor says what its keys look like; what is shorter was cut, what is longer was encoded.
      return (
        (KEY_FORMATS[kind].test(value) && isDrawn(value)) ||
        (looksRandom(value, 16) && !PERIODIC.test(value)) ||
        (isChosen && isNoToken(value))
      )
  }
}

/** What says something about something: a label, a message, a line of help. */
const isSentence = (value: string): boolean =>
  /\s\S+\s/.test(value) &&
  (SAYS_SOMETHING.test(value) || (/[\u00c0-\uffff]/.test(value) && value.split(/\s+/).length > 3))
const SAYS_SOMETHING =
  /(?:^|\s)(?:is|are|was|were|be|been|will|should|must|may|can|cannot|does|do|did|has|have|had|isn't|doesn't|of|for|your|please)(?=[\s,.]|$)/i

/** As ODBC quotes; what is looked up stands in braces too, by a name. */
const IN_BRACES = /^\{([^{}\s]{8,200})\}$/

/**
 * `named`: in quotes, but only near the name, as in a sentence. `literal`: without quotes, where no name of a variable can stand; `assigned`: there
 * and right behind the `=` of its name, so that it can be no sentence either.
 */
export type Quoting = "quoted" | "named" | "bare" | "literal" | "assigned"

/** A mask, its ends at the ends of words: the middle alone, inside a longer word, protects nothing. */
const HOLDS_MASK = new RegExp(`(?:^|[^A-Za-z0-9])[^…]{0,3}${MASK_MIDDLE}[^…]{0,3}(?:$|[^A-Za-z0-9])`)
const PATH = /^(?:[/~.]|[A-Za-z]:[\\/])/

const KEY_FORMATS = {
  "access-key": /^[\w+/=-]{40,}$/,
  "aws-key": /^[A-Za-z0-9+/]{40}$/,
  "ibm-key": /^[\w-]{44}$/,
  "softlayer-key": /^[a-z0-9]{64}$/,
} as const

/** Where only the value itself can stand, what does not read like a name of something is one. */
function isUnlikeNames(value: string, quoting: Quoting): boolean {
  if (quoting === "bare" || quoting === "named" || value.length < 14 || value.length > 512) return false
  return (
    TOKEN.test(value) &&
    !PRODUCT_KEY.test(value) &&
    !isCode(value) &&
    !spellsAlphabet(beginningOf(value)) &&
    !isMostlyOne(beginningOf(value)) &&
    (signsIn(value) >= 2 || !readsLikeName(beginningOf(value)))
  )
}

/** The same few characters over and over. */
const PERIODIC = /^(.{2,12})\1\1/
/** Holds what no vendor puts into a token: then a person made it up. */
const isNoToken = (value: string): boolean => !TOKEN.test(value) && !/[\s:\\]/.test(value)

/** No generator draws the alphabet. */
const ALPHABET = /abcdefghij|qrstuvwxyz/i
/** What an anonymous guest of a file server gives as password: an address, often without its host. */
const ANONYMOUS = /^[\w.-]{1,32}@$/
const TOKEN = /^[\w.~+/=%|^@!#$&*-]+$/
const HEX = /^[0-9a-f]{14,}$/
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** What joins a machine to a Kubernetes cluster. */
const BOOTSTRAP = /^[a-z0-9]{6}\.[a-z0-9]{16}$/
const TELEGRAM = /^\d{5,16}:A[\w-]{34}$/
/** What opens software: groups of capitals and digits, all of one length. */
const PRODUCT_KEY =
  /^(?:[A-Z0-9]{4}(?:-[A-Z0-9]{4}){3,7}|[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3,5}|[A-Z0-9]{6}(?:-[A-Z0-9]{6}){2,5})$/

/**
 * Whether a value looks drawn by lot: letters and digits change places too often for words and numbers. Names of models and versions
 * (`claude-3-5-sonnet-20241022`) keep theirs apart.
 */
export function looksRandom(value: string, shortest: number): boolean {
  if (value.length < shortest) return false
  if (!TOKEN.test(value)) return TELEGRAM.test(value)
  if (UUID.test(value) || BOOTSTRAP.test(value)) return true
  if (PRODUCT_KEY.test(value)) return !spellsAlphabet(value, 5)
  const beginning = beginningOf(value)
  if (spellsAlphabet(beginning) || isMostlyOne(beginning)) return false
  if (isCode(value)) return false
  // A name of something secret is no secret, but chance or a prankster may have put one of these words into a key.
  return isNamed(value) ? isDrawn(beginning.replace(NAMED, "")) : isDrawn(beginning)
}

/** So much of a value tells whether it was drawn by lot; a hostile text has one of a thousand characters behind every name. */
const beginningOf = (value: string): string => value.slice(0, 256)

function isDrawn(value: string): boolean {
  const { digits, letters, changes, caseChanges, words } = traitsOf(value)
  if (HEX.test(value) && digits >= 3 && letters >= 2) return true
  if (letters === 0) return digits >= 16 && digits === value.length && entropyOf(value) >= 2
  if (entropyOf(value) < 2.7) return false
  if (changes >= 3 && changes * 16 >= value.length) return true
  if (digits > 0 && caseChanges >= 4 && words * 5 >= value.length * 2) return true
  if (isJumbled(value, caseChanges)) return true
  const { pairs, familiar } = countLetterPairs(value)
  const isMixed = digits > 0 || caseChanges >= 3
  return pairs >= (isMixed ? 5 : 15) && familiar * 2 <= pairs
}

/** Capitals and small letters that change places as in no name, the more so with signs between them. */
function isJumbled(value: string, caseChanges = traitsOf(value).caseChanges): boolean {
  if (value.length < 12 || caseChanges < 2 || caseChanges + 2 * signsIn(value) < 5) return false
  return !readsLikeName(value)
}

/** What spells a piece of the alphabet, or counts, was typed and not given out: no generator draws so many neighbours in a row. */
export function spellsAlphabet(value: string, letters = 7): boolean {
  // `aAbBcC` spells it as well.
  const lower = value.toLowerCase().replace(/([a-z])\1/g, "$1")
  let run = 1
  for (let i = 1; i < lower.length && run < letters; i++) {
    run = lower.charCodeAt(i) === lower.charCodeAt(i - 1) + 1 ? run + 1 : 1
  }
  return run >= letters
}

/** Nothing but one character, with something at its end: a drawing of a secret. */
export function isMostlyOne(value: string): boolean {
  const half = value.length / 2
  return countCharacters(value).some((count) => count > half)
}

/** How often each character stands in a value, by its low byte. The array is used again: this is asked of every value. */
function countCharacters(value: string): Uint16Array {
  counts.fill(0)
  for (let i = 0; i < value.length; i++) counts[value.charCodeAt(i) & 0xff]!++
  return counts
}
const counts = new Uint16Array(256)

/** What a person would choose as a password, in quotes: anything but a plain word. */
function looksChosen(value: string, quoting: Quoting = "quoted"): boolean {
  if (value.length < 6 || value.length > 1024 || (isCode(value, quoting) && !isDottedPassword(value))) return false
  if (isNamed(value) && /^[A-Za-z_. -]+$/.test(value)) return false
  if (/^[A-Za-z_]+$/.test(value)) return false
  if (/\s/.test(value)) return value.length >= 8 && !/[.?!:,](?:\s|$)|^[A-Z][a-z]+ [a-z]/.test(value)
  return true
}

/** A plain word, where nothing but a password can stand: not what a form, a schema or an error message says about passwords. */
function isPlainPassword(value: string): boolean {
  return /^[A-Za-z]{6,32}$/.test(value) && !isNamed(value) && !ABOUT_PASSWORDS.has(value.toLowerCase())
}
const ABOUT_PASSWORDS = wordList(VALUES.aboutPasswords)

/** What can follow a telling word in a sentence and is no word of it. */
export const isUnlikeWords = (value: string): boolean =>
  !/["'`=(){}<>]/.test(value) &&
  (looksRandom(value, 12) || (value.length >= 8 && hasEveryKind(value) && !isCode(value)))

/** Letters, digits, and a sign that neither names nor addresses have. */
const hasEveryKind = (value: string): boolean =>
  /\d/.test(value) && /[A-Za-z]/.test(value) && /[!^]|[#$&*](?![A-Za-z{(])/.test(value) && !spellsAlphabet(value)

/** The same without quotes, where it could as well be a word, a number or a piece of code. */
function looksTyped(value: string, quoting: Quoting): boolean {
  if (value.length < 8 || ((quoting === "bare" || quoting === "literal") && (isNamed(value) || isCode(value, quoting))))
    return false
  if (value.length >= 12 && signsIn(value) >= (quoting === "literal" ? 3 : 4)) return true
  if (!/\d/.test(value)) return isJumbled(value)
  return /[A-Za-z]/.test(value) && !/^[A-Z]?[a-z]+[._-]?\d{1,3}$/.test(value)
}

/** How many different signs it has that do not stand in names, numbers and sentences. */
const signsIn = (value: string): number => new Set(value.replace(/[\w\s.,:;-]/g, "")).size

/** A member, a call, an index, a path, an address: something that is looked up, not the thing itself. */
function isCode(value: string, quoting: Quoting = "bare"): boolean {
  if (!CODE.test(value) || value.split(".").some(isDrawnPart)) return false
  // Where nothing but the value can stand, a bracket makes it code only if it is closed as well.
  return quoting === "bare" || quoting === "named" || !BRACKET_FIRST.test(value) || isBalanced(value)
}
const CODE =
  /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+\(?$|^[A-Za-z_$][\w$.]*(?:[([]|(?:->|::)[A-Za-z_$])|^\.{0,2}\/[\w.-]+\/|^[\w.@-]+(?:\/[\w.@-]+)+\.[a-z]{1,5}$|^[a-z][a-z0-9+]{1,12}:\/\/|^\/.{2,200}\/[a-z]{0,4};?$|^[A-Za-z_$][\w$]{0,30}(?:\.[\w$]{1,30}){0,4}[)\]}]{1,4}(?:[;,(.?:)]|&&|\|\|)|^[A-Za-z_$][\w$]{0,30}(?:\.[A-Za-z_$][\w$]{0,30}){1,4}[,;]/
const BRACKET_FIRST = /^[A-Za-z_$][\w$.]*[([]/

function isBalanced(value: string): boolean {
  const count = (sign: string): number => value.split(sign).length
  const called = value.slice(0, value.search(/[([]/))
  return (
    (called.length >= 5 && readsLikeName(called) && /[a-z]{3}/.test(called)) ||
    /^[A-Za-z_$][\w$.]*[([]\s*$/.test(value) ||
    (CLOSED_LAST.test(value) && count("(") === count(")") && count("[") === count("]"))
  )
}
const CLOSED_LAST = /[)\]](?:[.?][\w$.()?[\]]{0,80})?;?$/

/** Words with dots between them and a digit somewhere, where no program's name can stand. */
const isDottedPassword = (value: string): boolean => /^[\w$]+(?:\.[\w$]+)+$/.test(value) && /[a-z]\d/i.test(value)

/** No part of a program's name is so long and mixed: it is one of a token's. */
function isDrawnPart(part: string): boolean {
  if (!/^[\w-]{7,}$/.test(part)) return false
  const { changes, caseChanges } = traitsOf(part)
  return (part.length >= 10 && changes >= 3) || (caseChanges >= 3 && !readsLikeName(part))
}

const isNamed = (value: string): boolean => value.search(NAMED) >= 0
const NAMED = /passw(?:or)?d?|passphrase|secret|token|api[_-]?key|credentials?/gi

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
  let entropy = 0
  for (const count of countCharacters(value)) {
    if (count > 0) entropy -= (count / value.length) * Math.log2(count / value.length)
  }
  return entropy
}
