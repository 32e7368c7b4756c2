import type { Rule } from "../rule.js"
import { beginsWord, endsWord } from "../text-edges.js"

const DISCORD = /[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,40}/y
const ATLASSIAN = /[MNO][A-Za-z0-9+/]{43}/y
const ATLASSIAN_PLAIN = /^\d{10,14}:/

/**
 * Tokens that begin with a number in base64: Discord's with the id of the bot, those of Atlassian's own servers with a counter. Three
 * digits have few beginnings in base64, and these are the keywords.
 */
export const numberInBase64: Rule = {
  id: "number-base64",
  about: "Discord bot tokens, Jira and Confluence server tokens",
  keywords: firstThreeOfDigits(),
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

function firstThreeOfDigits(): string[] {
  const beginnings = new Set<string>()
  for (let number = 0; number < 1000; number++) {
    beginnings.add(Buffer.from(String(number).padStart(3, "0")).toString("base64").slice(0, 3))
  }
  return [...beginnings]
}
