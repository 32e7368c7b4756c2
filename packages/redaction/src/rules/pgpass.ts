import type { Finder } from "./finder.js"
import { isPlaceholder } from "./placeholder.js"
import { endOfValueInLine, lineOfName } from "./value-end.js"

const PORT_AND_NAMES = /:(?:\d{2,5}|\*):[\w.*-]{1,64}:[\w.@*-]{1,64}:/y

/** `host:port:database:user:password`, a line of PostgreSQL's file of passwords. */
export const pgpass: Finder = {
  patterns: [PORT_AND_NAMES],
  find(text, at) {
    PORT_AND_NAMES.lastIndex = at
    if (!PORT_AND_NAMES.test(text)) return undefined
    const start = PORT_AND_NAMES.lastIndex
    let host = at
    while (
      host > 0 &&
      at - host < 80 &&
      /[\w.*-]/.test(text.charAt(host - 1)) &&
      !/\\[nrt]/.test(text.slice(host - 2, host))
    )
      host--
    const line = host === at ? undefined : lineOfName(text, host)
    if (line === undefined) return undefined
    const end = endOfValueInLine(text, start, line)
    const password = text.slice(start, end)
    return password.length >= 4 && /\w.*[^\d:]/.test(password) && !isPlaceholder(password) ? { start, end } : undefined
  },
}
