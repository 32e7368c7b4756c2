import { beginsWord, endsWord } from "../text-edges.js"
import type { Finder } from "./finder.js"

const DISCORD = /[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,40}/y
const ATLASSIAN = /[MNO][A-Za-z0-9+/]{43}/y
const ATLASSIAN_PLAIN = /^\d{10,14}:/

/**
 * Tokens that begin with a number in base64: Discord's with the id of the bot, those of Atlassian's own servers with a counter. Three
 * digits have few beginnings in base64, and these are the keywords.
 */
export const numberInBase64: Finder = {
  patterns: [DISCORD, ATLASSIAN],
  find(text, start) {
    if (!beginsWord(text, start)) return undefined
    const discord = endOf(DISCORD, text, start)
    if (discord !== undefined) return { start, end: discord }
    const atlassian = endOf(ATLASSIAN, text, start)
    return atlassian !== undefined && ATLASSIAN_PLAIN.test(decoded(text, start)) ? { start, end: atlassian } : undefined
  },
}

function endOf(pattern: RegExp, text: string, start: number): number | undefined {
  pattern.lastIndex = start
  return pattern.test(text) && endsWord(text, pattern.lastIndex) ? pattern.lastIndex : undefined
}

const decoded = (text: string, start: number): string =>
  Buffer.from(text.slice(start, start + 24), "base64").toString("latin1")
