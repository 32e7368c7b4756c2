import { maskProxyTokens, summarizeText } from "@orangebox/contract"

/** One error of a cause chain, outermost first. */
export interface ErrorLink {
  readonly class: string
  readonly message: string
  readonly stack: string | null
  readonly code?: string
}

export interface DescribedError {
  readonly errorClass: string
  /** First line of the message, short enough to stand on one line of a skeleton. */
  readonly summary: string
  readonly chain: readonly ErrorLink[]
}

const LONGEST_CHAIN = 16
const LONGEST_LINE = 4096

/**
 * Whatever was thrown, with class, message, stack and causes. Never throws: even an error whose getters throw is described.
 * @param summarize how a message becomes a summary: what is captured of it is not for this file to say
 */
export function describeError(thrown: unknown, summarize: (text: string) => string = summarizeText): DescribedError {
  const chain: ErrorLink[] = []
  const seen = new Set<unknown>()
  let next: unknown = thrown
  while (chain.length < LONGEST_CHAIN && !seen.has(next)) {
    seen.add(next)
    chain.push(linkOf(next))
    const cause = read(next, "cause")
    if (cause === undefined || cause === null) break
    next = cause
  }
  const outermost = chain[0]!
  const firstLine = outermost.message.split("\n", 1)[0] ?? ""
  return { errorClass: outermost.class, summary: summarize(firstLine.slice(0, LONGEST_LINE)), chain }
}

function linkOf(thrown: unknown): ErrorLink {
  if (typeof thrown !== "object" || thrown === null) {
    return { class: "NonError", message: maskProxyTokens(textOf(thrown)), stack: null }
  }
  const name = read(thrown, "name")
  const constructorName = read(read(thrown, "constructor"), "name")
  const named = typeof name === "string" && name !== "" && name !== "Error" ? name : constructorName
  const message = read(thrown, "message")
  const stack = read(thrown, "stack")
  const code = read(thrown, "code")
  return {
    class: typeof named === "string" && named !== "" ? named.slice(0, 256) : "Error",
    message: maskProxyTokens(typeof message === "string" ? message : textOf(message ?? thrown)),
    stack: typeof stack === "string" ? maskProxyTokens(stack) : null,
    ...(typeof code === "string" || typeof code === "number" ? { code: String(code) } : {}),
  }
}

function read(value: unknown, key: string): unknown {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined
  try {
    return (value as Record<string, unknown>)[key]
  } catch {
    return undefined
  }
}

function textOf(value: unknown): string {
  try {
    return typeof value === "object" && value !== null ? Object.prototype.toString.call(value) : String(value)
  } catch {
    return "[unreadable]"
  }
}
