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
  for (const [token] of text.matchAll(TOKENS)) {
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

// Strings, empty brackets, single structural characters, and whatever else stands between them; white space between tokens is dropped.
// The string pattern is unrolled, because one alternation per character overflows the matcher's stack on a string of megabytes.
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"?|\{\s*\}|\[\s*\]|[{}[\],:]|[^\s{}[\],:"]+/gs
