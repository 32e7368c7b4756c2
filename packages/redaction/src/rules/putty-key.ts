import { endOfRun, isBase64 } from "./character-run.js"
import type { Finder } from "./finder.js"

const HEADER = /Private-Lines: {0,2}(\d{1,3})/y
const LINE_BREAK = /(?:\r?\n|\\{1,7}r?\\{0,7}n)/y
const LONGEST_LINE = 72

/** The private half of a PuTTY key file: as many lines of base64 as its header says. */
export const puttyKey: Finder = {
  patterns: [HEADER, LINE_BREAK],
  find(text, keywordAt) {
    HEADER.lastIndex = keywordAt
    const lines = Number(HEADER.exec(text)?.[1] ?? 0)
    let end = HEADER.lastIndex
    let start = 0
    for (let line = 0; line < Math.min(lines, 64); line++) {
      LINE_BREAK.lastIndex = end
      if (!LINE_BREAK.test(text)) return found(start, end, text.length)
      const lineStart = LINE_BREAK.lastIndex
      const lineEnd = endOfRun(text, lineStart, LONGEST_LINE, isBase64)
      if (lineEnd - lineStart < (line === 0 ? 16 : 4) || !/^[\s\\"']?$/.test(text.charAt(lineEnd))) {
        return found(start, end, text.length)
      }
      if (line === 0) start = lineStart
      end = lineEnd
    }
    return found(start, end, text.length)
  },
}

function found(start: number, end: number, length: number) {
  if (start === 0) return undefined
  // A line that ends with the text may go on, and so may the key.
  return end >= length - 2 ? { start, end, open: true } : { start, end }
}
