const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Whether JSON text nests arrays and objects in more levels than these. Asked before text of unknown origin is parsed: what is nested a
 * hundred thousand deep parses well, and then overflows the stack of a walk over it. Text that is no JSON gets some answer.
 */
export function isNestedDeeper(text: string, levels: number): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at + 1)
    } else if (code === 0x5b || code === 0x7b) {
      if (++depth > levels) return true
    } else if (code === 0x5d || code === 0x7d) depth--
  }
  return false
}

/** Where the closing quote stands. `indexOf` is many times as quick as looking at each character, and strings are most of any JSON. */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return end
  }
  return text.length
}
