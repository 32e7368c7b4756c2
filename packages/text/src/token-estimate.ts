import { cutToWidth, displayWidth } from "./display-width.js"

/** How many tokens a text costs its reader. Pass a real tokenizer where the exact figure matters. */
export type CountTokens = (text: string) => number

/**
 * A guess that leans high: about four letters a token, three digits, two signs, sixteen spaces of padding, one for each character outside
 * ASCII. Summing over characters keeps it additive, so lines can be priced one by one and added up.
 */
export function estimateTokens(text: string): number {
  let cost = 0
  for (let i = 0; i < text.length; i++) cost += WEIGHT[Math.min(text.charCodeAt(i), 128)]!
  return Math.ceil(cost / 48)
}

// In 1/48 of a token, so that all weights are whole and sums are exact.
const WEIGHT = Uint8Array.from({ length: 129 }, (_, code) => {
  if (code >= 128) return 48
  if (code === 32) return 3
  if (code >= 48 && code <= 57) return 16
  if ((code >= 65 && code <= 90) || (code >= 97 && code <= 122)) return 12
  return 24
})

/** Shortens a line until it costs no more than `most`. */
export function cutToTokens(line: string, most: number, count: CountTokens): string {
  let cut = line
  for (let width = displayWidth(line); count(cut) > most && width > 8; width = Math.floor(width * 0.8)) {
    cut = cutToWidth(line, width)
  }
  return cut
}

/**
 * More than a text costs, for a promise that must hold: ids, hashes and times are many short tokens, which the guess above takes for words.
 * Held against o200k_base by a test.
 */
export function mostTokens(text: string): number {
  let cost = 0
  // A word brings the space before it along; letters beside digits are part of an id.
  for (const [piece, word, ofId] of text.matchAll(/( ?\b[A-Za-z]+(?![A-Za-z\d]))|([A-Za-z]+)|\d{1,3}|\s+|\S/g)) {
    if (word !== undefined) cost += Math.ceil(word.length / (/[A-Z]{2}/.test(word) ? 2 : 5))
    else if (ofId !== undefined) cost += Math.ceil(ofId.length / 1.5)
    else cost += piece.charCodeAt(0) >= 128 ? 1.5 : 1
  }
  return Math.ceil(cost)
}
