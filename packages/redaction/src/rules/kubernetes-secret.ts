import { isMask } from "../mask.js"
import { type Found, LEAD } from "../rule.js"
import type { Finder } from "./finder.js"
import { isPlaceholder } from "./placeholder.js"
import { endOfQuoted, endOfValueInLine, type Quote } from "./value-end.js"

const LINE_BREAK = /(?:\r?\n|\\{1,7}r?\\{0,7}n)/.source
/** `data:` and its lines below, or `"data": {`. */
const DATA = new RegExp(`data: {0,4}(?=${LINE_BREAK})|data\\\\{0,7}"[ \\t]{0,4}:[ \\t]{0,4}\\{`, "iy")
const ENTRY = /(?:[\s,]|\\{1,7}[nrt]){1,40}\\{0,7}["']?([\w.-]{1,80})\\{0,7}["']?[ \t]{0,4}:[ \t]{0,4}/y
/** In compact JSON nothing stands before the first. */
const FIRST_ENTRY = /\\{0,7}"([\w.-]{1,80})\\{0,7}"[ \t]{0,4}:[ \t]{0,4}/y
const QUOTE = /(\\{0,7})(["'])/y
const BREAK = new RegExp(`(\\\\{0,7})${/[nr]/.source}`, "y")
const BASE64 = /^[A-Za-z0-9+/]{4,4000}={0,2}$/
const API_VERSION = /apiVersion\\{0,7}"?: {0,2}\\{0,7}["']?v1/
const SHORTEST_VALUE = 12
const SHORTEST_CHOSEN = 4

/**
 * The values of a Kubernetes Secret: whatever stands under `stringData`, and what is base64 under `data`. A manifest may name its kind after its
 * data, and a stream cannot wait for that, so an `apiVersion: v1` before and values in base64 are enough; a ConfigMap has no base64 under `data`.
 */
export const kubernetesSecret: Finder = {
  patterns: [DATA, ENTRY, FIRST_ENTRY, QUOTE, BREAK, BASE64],
  find(text, keywordAt) {
    DATA.lastIndex = keywordAt
    if (!DATA.test(text)) return undefined
    let at = DATA.lastIndex
    const isPlain = /string$/.test(text.slice(Math.max(0, keywordAt - 6), keywordAt))
    if (!isPlain && !API_VERSION.test(text.slice(Math.max(0, keywordAt - 512), keywordAt))) return undefined
    const isJson = text.charAt(at - 1) === "{"
    const found: Found[] = []
    while (at < keywordAt + LEAD - 1024) {
      const entry = isJson && found.length === 0 && text.charAt(at) !== " " ? FIRST_ENTRY : ENTRY
      entry.lastIndex = at
      if (!entry.test(text)) break
      const value = valueAt(text, entry.lastIndex, isJson)
      if (value === undefined) break
      if (isSecret(text.slice(value.start, value.end), isPlain)) found.push({ start: value.start, end: value.end })
      at = value.next
    }
    return found
  },
}

interface Value extends Found {
  readonly next: number
}

function valueAt(text: string, at: number, isJson: boolean): Value | undefined {
  QUOTE.lastIndex = at
  const opening = QUOTE.exec(text)
  if (opening !== null) {
    const quote: Quote = { valueAt: QUOTE.lastIndex, quote: opening[2]!, depth: opening[1]!.length }
    const end = endOfQuoted(text, quote)
    return end === undefined ? undefined : { start: quote.valueAt, end, next: end + quote.depth + 1 }
  }
  if (isJson) return undefined
  // In a JSON string every line break has as many backslashes as the first.
  const broken = text.slice(at, at + 2048).search(/\n|\\{1,7}[nr]/)
  BREAK.lastIndex = at + Math.max(0, broken)
  const depth = broken < 0 ? 0 : (BREAK.exec(text)?.[1]?.length ?? 0)
  const end = endOfValueInLine(text, at, { depth, quote: depth > 0 ? '"' : "" })
  return end > at ? { start: at, end, next: end } : undefined
}

function isSecret(value: string, isPlain: boolean): boolean {
  if (isMask(value) || isPlaceholder(value)) return false
  if (isPlain) return value.length >= SHORTEST_CHOSEN && !/^(?:true|false|null|\|-?|>-?)$/.test(value)
  if (!BASE64.test(value) || value.length % 4 !== 0) return false
  // A word or a number of a ConfigMap may be base64 as well, but not of a text.
  return value.length >= SHORTEST_VALUE || /^[\t\n\r -~]{5,}$/.test(Buffer.from(value, "base64").toString("latin1"))
}
