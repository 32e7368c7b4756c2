import { maskProxyTokens, summarizeText } from "@orangebox/contract"
import { cutAtWord, endFromWord } from "./cut-at-word.js"
import { safeStringify } from "./safe-stringify.js"

/** One error of a cause chain, outermost first. */
export interface ErrorLink {
  readonly class: string
  readonly message: string
  readonly stack: string | null
  readonly code?: string
  /** How long the message was, where only its beginning is kept. */
  readonly message_length?: number
  /** What an error of several holds: each with its own causes. */
  readonly errors?: readonly (readonly ErrorLink[])[]
  /** How many of them, or of the causes below, were left out. */
  readonly more?: number
}

export interface DescribedError {
  readonly errorClass: string
  /** First line of the message, short enough to stand on one line of a skeleton. */
  readonly summary: string
  readonly chain: readonly ErrorLink[]
}

/** Over causes and the errors inside errors together: an error may hold a thousand. */
const MOST_LINKS = 64
const LONGEST_CHAIN = 16
const LONGEST_LINE = 4096
const LONGEST_TEXT = 64 * 1024

/**
 * Whatever was thrown, with class, message, stack and causes. Never throws: even an error whose getters throw is described.
 * @param summarize how a message becomes a summary: what is captured of it is not for this file to say
 */
export function describeError(thrown: unknown, summarize: (text: string) => string = summarizeText): DescribedError {
  const chain = chainOf(thrown, { seen: new Set(), left: MOST_LINKS })
  const outermost = chain[0]!
  const firstLine = outermost.message.split("\n", 1)[0] ?? ""
  return { errorClass: outermost.class, summary: summarize(cutAtWord(firstLine, LONGEST_LINE)), chain }
}

/** A value that was thrown, for places where `undefined` means that nothing was. */
export const asThrown = (value: unknown): unknown => (value === undefined ? "undefined" : value)

interface Walk {
  readonly seen: Set<unknown>
  left: number
}

function chainOf(thrown: unknown, walk: Walk): ErrorLink[] {
  const chain: ErrorLink[] = []
  let next: unknown = thrown
  while (chain.length < LONGEST_CHAIN && (chain.length === 0 || (walk.left > 0 && !walk.seen.has(next)))) {
    if (isObject(next)) walk.seen.add(next)
    walk.left--
    chain.push({ ...linkOf(next), ...errorsIn(next, walk) })
    const cause = read(next, "cause")
    if (cause === undefined || cause === null) return chain
    next = cause
  }
  // A cause that was told before is a circle, not a loss.
  return walk.seen.has(next) ? chain : [...chain.slice(0, -1), { ...chain.at(-1)!, more: 1 }]
}

/** `AggregateError` and whatever has the same form. */
function errorsIn(thrown: unknown, walk: Walk): Pick<ErrorLink, "errors" | "more"> {
  const inner = read(thrown, "errors")
  const length = Array.isArray(inner) ? read(inner, "length") : 0
  if (typeof length !== "number" || length === 0) return {}
  const errors: ErrorLink[][] = []
  let at = 0
  for (; at < length && walk.left > 0; at++) {
    const one = read(inner, String(at))
    if (!walk.seen.has(one)) errors.push(chainOf(one, walk))
  }
  return { ...(errors.length === 0 ? {} : { errors }), ...(at === length ? {} : { more: length - at }) }
}

function linkOf(thrown: unknown): ErrorLink {
  if (!isObject(thrown)) return { class: "NonError", ...messageOf(textOf(thrown)), stack: null }
  const name = read(thrown, "name")
  const constructorName = read(read(thrown, "constructor"), "name")
  const named = typeof name === "string" && name !== "" && name !== "Error" ? name : constructorName
  const message = read(thrown, "message")
  const stack = read(thrown, "stack")
  const code = read(thrown, "code")
  return {
    class: typeof named === "string" && named !== "" ? cutAtWord(named, 256) : "Error",
    ...messageOf(typeof message === "string" ? message : textOf(message ?? thrown)),
    stack: typeof stack === "string" ? stackOf(stack) : null,
    ...(typeof code === "string" || typeof code === "number" ? { code: cutAtWord(String(code), 256) } : {}),
  }
}

function messageOf(text: string): Pick<ErrorLink, "message" | "message_length"> {
  if (text.length <= LONGEST_TEXT) return { message: maskProxyTokens(text) }
  return { message: maskProxyTokens(cutAtWord(text, LONGEST_TEXT)), message_length: text.length }
}

/** A stack begins with the message, which is kept beside it; what tells where it happened stands at the end. */
function stackOf(stack: string): string {
  return maskProxyTokens(endFromWord(stack, LONGEST_TEXT))
}

const isObject = (value: unknown): value is object =>
  (typeof value === "object" || typeof value === "function") && value !== null

function read(value: unknown, key: string): unknown {
  if (!isObject(value)) return undefined
  try {
    return (value as Record<string, unknown>)[key]
  } catch {
    return undefined
  }
}

/** Of an object that is no error, what it holds: that is all there is to know. */
function textOf(value: unknown): string {
  try {
    return typeof value === "object" && value !== null ? safeStringify(value) : String(value)
  } catch {
    return "[unreadable]"
  }
}
