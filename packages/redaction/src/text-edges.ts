import { isEndOfMask } from "./mask.js"

/**
 * Whether a word can begin here. Recorded text is often JSON inside JSON, so `\n`, `\\n` and `\u0026` end before a word as a line break
 * and an ampersand would, and so does `%3D` in a URL.
 */
export function beginsWord(text: string, at: number): boolean {
  if (at === 0) return true
  return (!isAlphanumeric(text.charCodeAt(at - 1)) || endsEscape(text, at)) && !isEndOfMask(text, at)
}

/** Whether a word can end here: what follows is no letter, digit or underscore. */
export function endsWord(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return !isAlphanumeric(code) && code !== UNDERSCORE
}

export function endsEscape(text: string, at: number): boolean {
  if (text.charCodeAt(at - 2) === BACKSLASH) return "nrtbf".includes(text.charAt(at - 1))
  if (text.charCodeAt(at - 3) === PERCENT) return isHex(text.charCodeAt(at - 1)) && isHex(text.charCodeAt(at - 2))
  if (text.charCodeAt(at - 6) !== BACKSLASH || text.charCodeAt(at - 5) !== 0x75) return false
  for (let i = at - 4; i < at; i++) if (!isHex(text.charCodeAt(i))) return false
  return true
}

const UNDERSCORE = 0x5f
const BACKSLASH = 0x5c
const PERCENT = 0x25

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

export function isLetter(code: number): boolean {
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x7a
}

export function isAlphanumeric(code: number): boolean {
  return isLetter(code) || isDigit(code)
}

export function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d)
}

/** Of a script that is written without spaces: Thai, Lao, Burmese, Khmer, Chinese, Japanese. No keyword and no form has such a character. */
export function isUnspaced(code: number): boolean {
  return (
    (code >= 0x3001 && code <= 0x9fff) ||
    (code >= 0x0e00 && code <= 0x0eff) ||
    (code >= 0x1000 && code <= 0x109f) ||
    (code >= 0x1780 && code <= 0x17ff) ||
    (code >= 0xf900 && code <= 0xfaff)
  )
}

function isHex(code: number): boolean {
  const lower = code | 0x20
  return isDigit(code) || (lower >= 0x61 && lower <= 0x66)
}
