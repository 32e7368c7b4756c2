import type { Found } from "../rule.js"
import { countLetterPairs } from "./letter-pairs.js"
import { isPlaceholder } from "./placeholder.js"
import { isPublishedExample } from "./published-example.js"
import { isMostlyOne, looksRandom, spellsAlphabet } from "./secret-values.js"

const SHORTEST_BODY = 16
const LONGEST_BODY = 1024
/** So much of it tells what it is. */
const JUDGED = 128
/** Shorter prefixes are met by chance, and what follows has to look drawn by lot; behind longer ones it must only not be words. */
const TELLING_PREFIX = 4

/** A vendor's prefix and what follows it, as far as it goes: whatever its length or ending. */
export function looseForm(pattern: string): (text: string, start: number, prefix: string) => Found | undefined {
  const belongs = keyCharacters(pattern)
  return (text, start, prefix) => {
    // Inside a longer word, such as the name of a file, or behind the backslash of an escape it is no prefix.
    if (/[-_.\\]/.test(text.charAt(start - 1))) return undefined
    const bodyStart = start + prefix.length
    const last = Math.min(text.length, bodyStart + LONGEST_BODY)
    let end = bodyStart
    while (end < last && belongs[text.charCodeAt(end)] === 1) end++
    // A full stop or a dash at the end is the sentence's.
    while (end > bodyStart && /[.\-=/+]/.test(text.charAt(end - 1)) && !text.startsWith("==", end - 2)) end--
    const body = text.slice(bodyStart, end)
    return body.length >= SHORTEST_BODY &&
      isKeyBody(body.slice(0, JUDGED), prefix) &&
      !isPublishedExample(prefix + body)
      ? { start, end, isLoose: true }
      : undefined
  }
}

function isKeyBody(body: string, prefix: string): boolean {
  if (isPlaceholder(body) || FAKE.test(body) || spellsAlphabet(body) || isMostlyOne(body) || isEncodedText(body))
    return false
  return prefix.length < TELLING_PREFIX
    ? looksRandom(body, SHORTEST_BODY)
    : !readsLikeWords(body) && new Set(body).size >= 6
}

const FAKE = /fake|example|sample|test[_-]?(?:key|token)|your|(.)\1{5}/i

/** Base64 of words is no secret by itself; it is searched for those it holds. Of JSON it may be a key. */
const isEncodedText = (body: string): boolean =>
  !body.startsWith("eyJ") && /^[\t\n\r -~]{12}/.test(Buffer.from(body.slice(0, 24), "base64").toString("latin1"))

/** Nearly all neighbours among its letters are those of words, and no digit stands between two of them. */
function readsLikeWords(body: string): boolean {
  if (/[A-Za-z]\d+[A-Za-z]/.test(body)) return false
  const { pairs, familiar } = countLetterPairs(body)
  return pairs >= 6 && familiar * 4 >= pairs * 3
}

/** Letters, digits, `_` and `-`, and of the other signs of base64 those that the vendor's own form has. */
function keyCharacters(pattern: string): Uint8Array {
  const belongs = new Uint8Array(128)
  const signs =
    (/\+\//.test(pattern) ? "+/" : "") +
    (/=/.test(pattern) ? "=" : "") +
    (/\\\.|[\w\]]\.[\w=-]{0,4}\]/.test(pattern) ? "." : "")
  for (const character of `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-${signs}`) {
    belongs[character.charCodeAt(0)] = 1
  }
  return belongs
}
