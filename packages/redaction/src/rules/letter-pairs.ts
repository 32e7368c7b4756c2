import { VALUES } from "./rules.generated.js"
import { wordList } from "./word-list.js"

/**
 * How much of a value reads like words: the share of its neighbouring letters that often stand together in English and in the names that
 * programs give. About nine in ten pairs of a word do, and about one in three of letters drawn by lot, which tells short values apart
 * where counting digits and capitals cannot.
 */
export function countLetterPairs(value: string): { readonly pairs: number; readonly familiar: number } {
  let pairs = 0
  let familiar = 0
  for (let i = 1; i < value.length; i++) {
    const first = letterAt(value, i - 1)
    const second = letterAt(value, i)
    // A capital behind a small letter begins the next word of a camelCase name.
    if (first < 0 || second < 0 || (isSmall(value, i - 1) && !isSmall(value, i))) continue
    pairs++
    familiar += FAMILIAR[first * 26 + second]!
  }
  return { pairs, familiar }
}

/**
 * Whether most letters of a value stand in words: `getAccessToken`, `user-session-2024-config`, `gpt-4o-mini`. Of what was drawn by lot hardly a
 * run of three letters in a row has one case and reads like a word.
 */
export function readsLikeName(value: string): boolean {
  let letters = 0
  let inWords = 0
  for (const [word] of value.matchAll(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g)) {
    letters += word.length
    const { pairs, familiar } = countLetterPairs(word)
    if (pairs >= 2 && familiar * 3 >= pairs * 2) inWords += word.length
  }
  return letters * 2 < value.length ? !/[a-z]\d[a-z\d]{0,6}\d?[a-z]/i.test(value) : inWords * 5 >= letters * 3
}

function letterAt(value: string, at: number): number {
  const letter = (value.charCodeAt(at) | 0x20) - 0x61
  return letter >= 0 && letter < 26 && value.charCodeAt(at) >= 0x41 ? letter : -1
}

const isSmall = (value: string, at: number): boolean => value.charCodeAt(at) >= 0x61

const FAMILIAR = new Uint8Array(26 * 26)
for (const [first, , ...followers] of wordList(VALUES.letterPairs)) {
  for (const second of followers) FAMILIAR[(first!.charCodeAt(0) - 0x61) * 26 + second.charCodeAt(0) - 0x61] = 1
}
