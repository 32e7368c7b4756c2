/**
 * JSON with line breaks and indentation put in and nothing else changed: every number, escape and key order stays as it was written.
 * Parsing and printing again would turn `1.0` into `1` and lose what `9007199254740993` says.
 */
export function prettyJsonText(text: string): string {
  let pretty = ""
  let depth = 0
  const breakLine = (): void => {
    pretty += `\n${"  ".repeat(Math.min(depth, DEEPEST_INDENT))}`
  }
  for (const token of tokensOf(text)) {
    switch (token[0]) {
      case "{":
      case "[":
        pretty += token
        // An empty object or array arrives as one token.
        if (token.length > 1) break
        depth += 1
        breakLine()
        break
      case "}":
      case "]":
        depth = Math.max(0, depth - 1)
        breakLine()
        pretty += token
        break
      case ",":
        pretty += token
        breakLine()
        break
      case ":":
        pretty += ": "
        break
      default:
        pretty += token
    }
  }
  return pretty
}

/** Nesting deeper than this is not indented further: a thousand brackets must not become a million spaces. */
const DEEPEST_INDENT = 32

// Empty brackets, single structural characters, and whatever else stands between strings; white space between tokens is dropped.
const TOKEN = /\{\s*\}|\[\s*\]|[{}[\],:]|[^\s{}[\],:"]+|\s+/y

function* tokensOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const isString = text.charCodeAt(at) === QUOTE
    TOKEN.lastIndex = at
    const end = isString ? endOfString(text, at) : at + TOKEN.exec(text)![0].length
    const token = text.slice(at, end)
    if (isString || token.trim() !== "") yield token
    at = end
  }
}

// By hand: a regular expression keeps a place to come back to for every escape, and a log of megabytes has too many of them.
function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === BACKSLASH) at++
    else if (code === QUOTE) return at + 1
  }
  return text.length
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
