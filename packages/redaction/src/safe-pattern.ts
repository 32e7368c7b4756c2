export type PatternReading =
  | { readonly ok: true; readonly pattern: RegExp; readonly longest: number }
  | { readonly ok: false; readonly at: number; readonly reason: string }

const MAX_SOURCE = 256
const MAX_REPEAT = 1000
const MAX_LENGTH = 2048
/** How many ways a match may be taken apart. */
const MAX_WAYS = 4096

/**
 * A pattern of a user, taken only if it cannot run away: no lookaround, no references back, no group that repeats something that repeats,
 * every repetition with an upper bound, and few ways in all. Stricter than need be, but sure, and easy to say: `\w{1,40}`, not `\w+`.
 *
 * The bounds also tell how long a match can be, which is what a stream has to hold back.
 */
export function readPattern(source: string, flags = ""): PatternReading {
  if (source.length > MAX_SOURCE) return no(MAX_SOURCE, `longer than ${MAX_SOURCE} characters`)
  if (!/^i?$/.test(flags)) return no(0, "the only flag is i")
  let pattern: RegExp
  try {
    pattern = new RegExp(source, `g${flags}`)
  } catch (error) {
    return no(0, `does not compile: ${error instanceof Error ? error.message : String(error)}`)
  }
  const reader = new Reader(source)
  const measure = reader.alternatives()
  if (reader.problem !== undefined) return no(reader.problem.at, reader.problem.reason)
  if (pattern.test("")) return no(0, "matches the empty text, so it would match everywhere")
  if (measure.longest > MAX_LENGTH) return no(0, `can match ${measure.longest} characters; the limit is ${MAX_LENGTH}`)
  if (measure.ways > MAX_WAYS) return no(0, "can match one text in too many ways; use fewer or tighter repetitions")
  pattern.lastIndex = 0
  return { ok: true, pattern, longest: measure.longest }
}

function no(at: number, reason: string): PatternReading {
  return { ok: false, at, reason }
}

/** What can be said of a piece of a pattern without running it. */
interface Measure {
  readonly longest: number
  readonly ways: number
  readonly isRepeating: boolean
}

const NOTHING: Measure = { longest: 0, ways: 1, isRepeating: false }

// The engine has already accepted the syntax; this only has to find its way through it.
class Reader {
  #at = 0
  problem: { at: number; reason: string } | undefined

  constructor(readonly source: string) {}

  alternatives(): Measure {
    let all = this.#sequence()
    while (this.#peek() === "|") {
      this.#at++
      const next = this.#sequence()
      all = {
        longest: Math.max(all.longest, next.longest),
        ways: all.ways + next.ways,
        isRepeating: all.isRepeating || next.isRepeating,
      }
    }
    return all
  }

  #sequence(): Measure {
    let sum = NOTHING
    while (this.problem === undefined && this.#at < this.source.length && !"|)".includes(this.#peek())) {
      const start = this.#at
      const item = this.#repeated(this.#item(), start)
      sum = {
        longest: sum.longest + item.longest,
        ways: sum.ways * item.ways,
        isRepeating: sum.isRepeating || item.isRepeating,
      }
    }
    return sum
  }

  #item(): Measure {
    const character = this.#peek()
    if (character === "(") return this.#group()
    if (character === "[") return this.#set()
    if (character === "\\") return this.#escape()
    this.#at++
    return character === "^" || character === "$" ? NOTHING : ONE
  }

  #group(): Measure {
    const start = this.#at
    this.#at++
    if (this.#peek() === "?") {
      if (this.source.startsWith("?:", this.#at)) this.#at += 2
      else return this.#refuse(start, "no lookaround, names or modifiers in groups; (?:…) is fine")
    }
    const inner = this.alternatives()
    this.#at++
    return inner
  }

  #set(): Measure {
    this.#at++
    while (this.#at < this.source.length && this.#peek() !== "]") this.#at += this.#peek() === "\\" ? 2 : 1
    this.#at++
    return ONE
  }

  #escape(): Measure {
    const start = this.#at
    const rest = this.source.slice(start + 1)
    if (/^(?:[1-9]|k)/.test(rest)) return this.#refuse(start, "no references back to what a group matched")
    const length = /^(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|c[A-Za-z]|[\s\S])/.exec(rest)?.[0].length ?? 0
    this.#at += 1 + length
    return /^[bB]/.test(rest) ? NOTHING : ONE
  }

  #repeated(item: Measure, start: number): Measure {
    const at = this.#at
    const sign = /^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/.exec(this.source.slice(at))
    if (sign === null) return item
    this.#at += sign[0].length
    const isMaybe = sign[0][0] === "?"
    const [, least, comma, most] = sign
    if (!isMaybe && (least === undefined || (comma !== undefined && most === ""))) {
      return this.#refuse(at, `${sign[0]} has no upper bound; write {1,40} or the like`)
    }
    const max = isMaybe ? 1 : Number(comma === undefined ? least : most)
    const min = isMaybe ? 0 : Number(least)
    if (max > MAX_REPEAT) return this.#refuse(at, `repeats up to ${max} times; the limit is ${MAX_REPEAT}`)
    if (item.isRepeating && max > 1) return this.#refuse(start, "repeats something that repeats")
    return {
      longest: item.longest * max,
      ways: item.ways * (max - min + 1),
      isRepeating: max > min || item.isRepeating,
    }
  }

  #peek(): string {
    return this.source[this.#at] ?? ""
  }

  #refuse(at: number, reason: string): Measure {
    this.problem ??= { at, reason }
    this.#at = this.source.length
    return NOTHING
  }
}

const ONE: Measure = { longest: 1, ways: 1, isRepeating: false }
