// Patterns of paths, matched segment by segment with sets of states: the work is at most the product of both lengths, whatever is written.
//
//   *      any run of characters in one segment        [abc] [a-z] [!x]   one character of a class
//   ?      one character                               {a,b}              one of several
//   **     any number of segments, none included       !pattern           an exception
//
// A pattern begins at the workspace root. One that ends in a plain name means that path and everything below it: `infra` is `infra/**`.

export type Segment =
  | { readonly kind: "any-segments" }
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "glob"; readonly tokens: readonly Token[] }

type Token =
  | { readonly kind: "star" }
  | { readonly kind: "one" }
  | { readonly kind: "character"; readonly text: string }
  | { readonly kind: "class"; readonly isNegated: boolean; readonly ranges: readonly (readonly [string, string])[] }

export type Glob = readonly Segment[]

const ANY_SEGMENTS: Segment = { kind: "any-segments" }
export const isWild = (segment: string): boolean => /[*?[]/.test(segment)

/** Compiles the segments of a pattern, braces already expanded. */
export function compileGlob(segments: readonly string[]): Glob {
  const glob: Segment[] = segments.map((segment) =>
    segment === "**"
      ? ANY_SEGMENTS
      : isWild(segment)
        ? { kind: "glob", tokens: tokensOf(segment) }
        : { kind: "literal", text: segment },
  )
  if (glob.length === 0 || glob.at(-1)?.kind === "literal") glob.push(ANY_SEGMENTS)
  return glob
}

/** `a/{b,c}` as `a/b` and `a/c`; undefined when it would become too many. */
export function expandChoices(pattern: string, limit = 64): readonly string[] | undefined {
  const close = pattern.indexOf("}")
  const open = close === -1 ? -1 : pattern.lastIndexOf("{", close)
  if (open === -1) return [pattern]
  const before = pattern.slice(0, open)
  const after = pattern.slice(close + 1)
  const all: string[] = []
  for (const choice of pattern.slice(open + 1, close).split(",")) {
    const expanded = expandChoices(before + choice + after, limit - all.length)
    if (expanded === undefined || all.length + expanded.length > limit) return undefined
    all.push(...expanded)
  }
  return all
}

/** Where a pattern stands after the segments of a path. */
export interface Reached {
  /** The path itself matches. */
  readonly accepts: boolean
  /** Everything below the path matches too. */
  readonly acceptsBelow: boolean
  /** Something below the path could match. */
  readonly isAlive: boolean
}

/** Runs a pattern over a path whose segments may themselves be wild. */
export function reach(glob: Glob, segments: readonly string[], areWild: boolean): Reached {
  let states = withSkips(glob, [0])
  for (const segment of segments) {
    const next: number[] = []
    for (const state of states) {
      const part = glob[state]
      if (part === undefined) continue
      if (part.kind === "any-segments") next.push(state)
      else if (overlaps(part, segment, areWild && isWild(segment))) next.push(state + 1)
    }
    states = withSkips(glob, next)
    if (states.length === 0) return { accepts: false, acceptsBelow: false, isAlive: false }
  }
  const last = glob.length - 1
  return {
    accepts: states.includes(glob.length),
    acceptsBelow: glob[last]?.kind === "any-segments" && states.includes(last),
    isAlive: states.some((state) => state < glob.length),
  }
}

function withSkips(glob: Glob, states: readonly number[]): number[] {
  const all = new Set<number>()
  for (let state of states) {
    all.add(state)
    while (glob[state]?.kind === "any-segments") all.add(++state)
  }
  return [...all]
}

function overlaps(part: Segment, segment: string, isWildSegment: boolean): boolean {
  if (!isWildSegment)
    return part.kind === "literal" ? part.text === segment : part.kind === "glob" && matches(part.tokens, segment)
  // Two wild segments may well meet; saying so is the careful answer.
  return part.kind === "literal" ? matches(tokensOf(segment), part.text) : true
}

/** Whether one name matches a pattern without slashes: tools, hosts, runners. */
export function matchesName(pattern: string, name: string): boolean {
  return isWild(pattern) ? matches(tokensOf(pattern), name) : pattern === name
}

function tokensOf(segment: string): Token[] {
  const tokens: Token[] = []
  const characters = Array.from(segment)
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at]!
    if (character === "*") {
      if (tokens.at(-1)?.kind !== "star") tokens.push({ kind: "star" })
    } else if (character === "?") tokens.push({ kind: "one" })
    else if (character === "[") {
      const read = readClass(characters, at)
      if (read === undefined) tokens.push({ kind: "character", text: "[" })
      else {
        tokens.push(read.token)
        at = read.end
      }
    } else tokens.push({ kind: "character", text: character })
  }
  return tokens
}

function readClass(characters: readonly string[], open: number): { token: Token; end: number } | undefined {
  const isNegated = characters[open + 1] === "!" || characters[open + 1] === "^"
  const first = open + (isNegated ? 2 : 1)
  const end = characters.indexOf("]", first + 1)
  if (end === -1) return undefined
  const ranges: [string, string][] = []
  for (let at = first; at < end; at++) {
    const from = characters[at]!
    if (characters[at + 1] === "-" && at + 2 < end) {
      ranges.push([from, characters[at + 2]!])
      at += 2
    } else ranges.push([from, from])
  }
  return { token: { kind: "class", isNegated, ranges }, end }
}

/** On a mismatch only the last star is tried one character further, which is enough. */
function matches(tokens: readonly Token[], text: string): boolean {
  const characters = Array.from(text)
  let token = 0
  let at = 0
  let star = -1
  let starAt = 0
  while (at < characters.length) {
    const current = tokens[token]
    if (current?.kind === "star") {
      star = token++
      starAt = at
    } else if (current !== undefined && matchesOne(current, characters[at]!)) {
      token++
      at++
    } else if (star !== -1) {
      token = star + 1
      at = ++starAt
    } else return false
  }
  while (tokens[token]?.kind === "star") token++
  return token === tokens.length
}

function matchesOne(token: Token, character: string): boolean {
  if (token.kind === "one") return true
  if (token.kind === "character") return token.text === character
  if (token.kind === "star") return false
  return token.ranges.some(([from, to]) => character >= from && character <= to) !== token.isNegated
}
