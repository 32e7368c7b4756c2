import type { Found } from "../rule.js"
import { isAlphanumeric, isSpace } from "../text-edges.js"
import { endOfRun, isBase64 } from "./character-run.js"
import type { Finder } from "./finder.js"

const HEADER = /-----BEGIN[ A-Z0-9_]{0,40}PRIVATE KEY(?: BLOCK)?-----/y
const LONGEST_BLOCK = 16_000
const SHORTEST_BODY = 40
/** A line of a key, told apart from the words of a sentence. */
const SHORTEST_LINE = 24

/**
 * Private keys in PEM, whatever became of their line breaks: real ones, `\n` in a JSON string (in a JSON string …), strings joined in
 * code. A block that breaks off is still a secret, as far as it goes.
 */
export const privateKey: Finder = {
  patterns: [HEADER],
  find(text, start) {
    HEADER.lastIndex = start
    if (!HEADER.test(text)) return isPrefixOfHeader(text, start) ? { start, end: start, open: true } : undefined
    return blockFrom(text, start, HEADER.lastIndex)
  },
}

function isPrefixOfHeader(text: string, start: number): boolean {
  return text.length - start < 72 && /^-----BEGIN[ A-Z0-9_]{0,60}-{0,5}$/.test(text.slice(start))
}

function blockFrom(text: string, start: number, bodyStart: number): Found | undefined {
  const limit = Math.min(text.length, bodyStart + LONGEST_BLOCK)
  let bodyLength = 0
  let endOfLastLine = bodyStart
  let run = 0
  for (let at = bodyStart; at < limit; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x2d && text.startsWith("-----", at)) {
      if (!text.startsWith("-----END", at)) {
        if ("-----END".startsWith(text.slice(at, at + 8))) return { start, end: at, open: true }
        return brokenOff(start, endOfLastLine, bodyLength)
      }
      const label = endOfRun(text, at + 5, 60, (c) => c !== 0x2d && c !== 0x0a)
      const end = endOfRun(text, label, 5, (c) => c === 0x2d)
      if (bodyLength < SHORTEST_BODY) return undefined
      return end === text.length && end < label + 5 ? { start, end, open: true } : { start, end }
    }
    if (isBase64(code)) {
      bodyLength++
      run++
      if (run >= SHORTEST_LINE) endOfLastLine = at + 1
    } else if (isArmour(code)) {
      if (!isEscapedBreak(text, at)) run = 0
    } else {
      return brokenOff(start, endOfLastLine, bodyLength)
    }
  }
  const found = brokenOff(start, endOfLastLine, bodyLength)
  if (limit < bodyStart + LONGEST_BLOCK) return { start, end: found?.end ?? start, open: true }
  return found
}

function brokenOff(start: number, end: number, bodyLength: number): Found | undefined {
  return bodyLength >= SHORTEST_BODY && end > start ? { start, end } : undefined
}

// What stands between the lines of a key: white space and its escapes, string joints, the headers of encrypted keys and PGP blocks.
function isArmour(code: number): boolean {
  return isSpace(code) || ARMOUR.has(code) || isAlphanumeric(code)
}
const ARMOUR = new Set([..."\\\"'`,.:;-_()<>@*#|$&!"].map((character) => character.charCodeAt(0)))

const isEscapedBreak = (text: string, at: number): boolean => text[at] === "\\" && text[at + 1] === "/"
