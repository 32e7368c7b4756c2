import { beginsWord, isDigit } from "../text-edges.js"
import type { Finder } from "./finder.js"

const SECRET_PART = /:A[\w-]{34}(?![\w-])/y

/** Telegram's bot tokens: the number of the bot, a colon, 35 characters. In addresses the word `bot` stands before the number. */
export const telegram: Finder = {
  patterns: [SECRET_PART],
  find(text, colon) {
    SECRET_PART.lastIndex = colon
    if (!SECRET_PART.test(text)) return undefined
    let start = colon
    while (start > 0 && colon - start < 17 && isDigit(text.charCodeAt(start - 1))) start--
    const digits = colon - start
    if (digits < 5 || digits > 16) return undefined
    const isWord = beginsWord(text, start) || text.slice(start - 3, start).toLowerCase() === "bot"
    return isWord ? { start, end: SECRET_PART.lastIndex } : undefined
  },
}
