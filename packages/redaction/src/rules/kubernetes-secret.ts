import { type Found, LEAD } from "../rule.js"
import type { Finder } from "./finder.js"

const LINE_BREAK = /(?:\r?\n|\\{1,7}r?\\{0,7}n)/.source
const DATA = new RegExp(`data: {0,4}${LINE_BREAK}`, "y")
const ENTRY = new RegExp(
  `(?: |\\t|\\\\{1,7}t){1,16}[\\w.-]{1,80}: {0,4}(\\\\{0,7}["']?)([A-Za-z0-9+/]{8,1000}={0,2})(?:\\\\{0,7}["'])?(?=\\s|\\\\|"|$)(?: {0,4}(${LINE_BREAK}))?`,
  "y",
)
const SHORTEST_VALUE = 12

/**
 * The values under `data:` in a Kubernetes Secret. A manifest may name its kind after its data, and a stream cannot wait for that, so an
 * `apiVersion: v1` before and values in base64 are enough; a ConfigMap has no base64 under `data:`.
 */
export const kubernetesSecret: Finder = {
  patterns: [DATA, ENTRY],
  find(text, keywordAt) {
    DATA.lastIndex = keywordAt
    if (!DATA.test(text)) return undefined
    if (!/apiVersion: {0,2}\\{0,7}["']?v1/.test(text.slice(Math.max(0, keywordAt - 512), keywordAt))) return undefined
    const found: Found[] = []
    let at = DATA.lastIndex
    while (at < keywordAt + LEAD - 1024) {
      ENTRY.lastIndex = at
      const match = ENTRY.exec(text)
      if (match === null) break
      const value = match[2]!
      const start = at + match[0].indexOf(match[1]! + value) + match[1]!.length
      if (value.length >= SHORTEST_VALUE && value.length % 4 === 0) found.push({ start, end: start + value.length })
      if (match[3] === undefined) break
      at = ENTRY.lastIndex
    }
    return found
  },
}
