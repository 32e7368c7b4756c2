import { cutToWidth, displayWidth } from "./display-width.js"
import type { CountTokens } from "./estimate-tokens.js"

/** Shortens a line until it costs no more than `most`. */
export function cutToTokens(line: string, most: number, count: CountTokens): string {
  let cut = line
  for (let width = displayWidth(line); count(cut) > most && width > 8; width = Math.floor(width * 0.8)) {
    cut = cutToWidth(line, width)
  }
  return cut
}
