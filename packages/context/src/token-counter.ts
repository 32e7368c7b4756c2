import { OrangeboxError } from "@orangebox/contract"

/** Counts the tokens of a text. The same text must always give the same count. */
export interface TokenCounter {
  readonly id: string
  readonly version: string
  count(text: string): number
  /** The count where it is at most `limit`, else undefined. For counters that can stop early; most chunks do not fit. */
  countWithin?(text: string, limit: number): number | undefined
}

/**
 * About 1.3 tokens a word, words being what stands between white space; and more for what is longer than a word: encoded bytes, minified
 * code, scripts that are written without spaces.
 */
export const estimateCounter: TokenCounter = Object.freeze({
  id: "estimate-1.3-per-word",
  version: "1.1.0",
  count: (text: string) => Math.ceil(countTenths(text, Number.POSITIVE_INFINITY) / 10),
  countWithin(text: string, limit: number) {
    const tenths = countTenths(text, limit * 10)
    return tenths > limit * 10 ? undefined : Math.ceil(tenths / 10)
  },
})

/** In tenths of a token. Words up to this length are words; what is behind it costs by the character. */
const WORD = { tenths: 13, length: 12, tenthsPerLetterBehind: 4 }
/** From Thai on: scripts without spaces, symbols and halves of emoji, most of which are a token each. */
const FIRST_WIDE = 0x0e00
const TENTHS_PER_WIDE = 8

export type TokenizerEncoding = "o200k_base" | "cl100k_base"

/**
 * A real tokenizer: the optional package gpt-tokenizer, which the application installs beside this one. Its tables take megabytes and half
 * a second, so they are loaded only here.
 */
export async function loadTokenizer(encoding: TokenizerEncoding = "o200k_base"): Promise<TokenCounter> {
  const { countTokens, isWithinTokenLimit } = await (encoding === "o200k_base"
    ? import("gpt-tokenizer/encoding/o200k_base")
    : import("gpt-tokenizer/encoding/cl100k_base")
  ).catch(notInstalled)
  // Text that spells a special token such as <|endoftext|> is still only text.
  const options = { disallowedSpecial: new Set<string>() }
  return Object.freeze({
    id: `gpt-tokenizer/${encoding}`,
    version: "3.4.0",
    count: (text: string) => runsOf(text).reduce((sum, part) => sum + countTokens(part, options), 0),
    countWithin(text: string, limit: number) {
      let sum = 0
      for (const part of runsOf(text)) {
        const count = isWithinTokenLimit(part, limit - sum, options)
        if (count === false) return undefined
        sum += count
      }
      return sum
    },
  })
}

function notInstalled(cause: unknown): never {
  throw new OrangeboxError("CONTEXT_TOKENIZER", {
    what: "gpt-tokenizer could not be loaded",
    where: "loadTokenizer",
    next: "Install it beside @orangebox/context: npm i gpt-tokenizer@3.4.0",
    cause,
  })
}

/** A counter whose answers are checked: a count that is no number would silently break every budget. */
export function checkedCounter(counter: TokenCounter): Required<TokenCounter> {
  const checked = (count: number): number => {
    if (Number.isFinite(count) && count >= 0) return Math.ceil(count)
    throw new OrangeboxError("CONTEXT_COUNTER", {
      what: `token counter ${counter.id} answered ${String(count)}`,
      where: "counter",
      next: "A count is a number of tokens, zero or more",
    })
  }
  return {
    id: counter.id,
    version: counter.version,
    count: (text) => checked(counter.count(text)),
    countWithin(text, limit) {
      const count = counter.countWithin ? counter.countWithin(text, limit) : counter.count(text)
      return count === undefined || checked(count) > limit ? undefined : checked(count)
    },
  }
}

/** Counts on only until there are more than `most`. */
function countTenths(text: string, most: number): number {
  let tenths = 0
  let letters = 0
  let inWord = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const isWord = !isSpace(code)
    if (isWord && !inWord) {
      tenths += WORD.tenths
      letters = 1
    } else if (isWord && code >= FIRST_WIDE) tenths += TENTHS_PER_WIDE
    else if (isWord && ++letters > WORD.length) tenths += WORD.tenthsPerLetterBehind
    if (tenths > most) return tenths
    inWord = isWord
  }
  return tenths
}

function isSpace(code: number): boolean {
  if (code <= 0x20) return true
  if (code < 0xa0) return false
  return (
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  )
}

// Merging byte pairs takes the square of the length of an unbroken run: 20,000 equal letters take most of a second. Runs are therefore
// cut; a cut can only raise the count, by one or two tokens.
const LONGEST_RUN = 500

function runsOf(text: string): string[] {
  const parts: string[] = []
  let start = 0
  let run = 0
  let inSpace = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const space = isSpace(code)
    run = space === inSpace ? run + 1 : 1
    inSpace = space
    const isHighSurrogate = code >= 0xd800 && code <= 0xdbff
    if (run >= LONGEST_RUN && !isHighSurrogate) {
      parts.push(text.slice(start, i + 1))
      start = i + 1
      run = 0
    }
  }
  if (start < text.length) parts.push(text.slice(start))
  return parts
}
