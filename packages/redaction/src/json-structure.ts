import { findSecrets, type Secret } from "./find-secrets.js"
import type { Ruleset } from "./ruleset.js"

/**
 * Of what was found in a text that is JSON, what can be masked without harm to the JSON. A rule that follows a name to its value knows nothing
 * of strings and may run out of one into the next: brackets and commas between strings stay, and so does a key that only stands behind a
 * text which ends in a telling word, or behind a private key that was cut. A number that is a secret becomes a string. JSON inside a string is looked at in the same way.
 *
 * @param open the strings that are open where the text begins: it is a piece from the middle of the JSON
 */
export function sparingStructure(
  text: string,
  secrets: readonly Secret[],
  ruleset: Ruleset,
  open: OpenStrings = [],
): readonly Secret[] {
  if (secrets.length === 0) return secrets
  return sparing(text, { start: 0, end: text.length, depth: 0, open }, secrets, ruleset)
}

/** The strings that are open somewhere in JSON, outermost first: whether each holds JSON itself. All but the last do. */
export type OpenStrings = readonly boolean[]

/**
 * Where a text that is JSON can be cut not far before a place, so that the rest is read as it would be in the whole, and the strings that are
 * open there: no quote is parted from its backslashes, and no string from the beginning that says whether it holds JSON.
 *
 * @param before the strings that are open where the text begins
 */
export function cutOfJson(text: string, place: number, before: OpenStrings): { at: number; open: OpenStrings } {
  let at = place
  while (at > 0 && text.charCodeAt(at - 1) === 0x5c) at--
  const open = openAt(text, { start: 0, end: at, depth: 0, open: before })
  const young = open.find(({ opened }) => opened !== undefined && at - opened < TELLING_LENGTH)
  if (young === undefined) return { at, open: open.map(({ holdsJson }) => holdsJson) }
  return cutOfJson(text, young.opened! - 1, before)
}

/** @returns the open strings, with where those begin that were opened in the region */
function openAt(text: string, region: Region): { opened: number | undefined; holdsJson: boolean }[] {
  let last: { start: number; end: number } | undefined
  for (const string of stringsIn(text, region)) last = string
  if (last === undefined || last.end < region.end) return []
  const isFromBefore = isFirstOf(region, last)
  const holdsJson = holdsJsonIn(text, region, last)
  const inner = { ...last, depth: region.depth + 1, open: isFromBefore ? region.open.slice(1) : [] }
  return [{ opened: isFromBefore ? undefined : last.start, holdsJson }, ...(holdsJson ? openAt(text, inner) : [])]
}

export const looksLikeJson = (text: string): boolean => /^\s{0,64}(?:\{\s{0,64}["}]|\[\s{0,64}["{[\]])/.test(text)

/** Too little of a text to say whether it is JSON. */
export const mayBecomeJson = (text: string): boolean => /^\s{0,64}[{[]?\s{0,64}$/.test(text)

interface Region {
  readonly start: number
  readonly end: number
  /** How many strings deep: how often each quote is escaped. */
  readonly depth: number
  /** The strings that are open where it begins. */
  readonly open: OpenStrings
}

function sparing(text: string, region: Region, secrets: readonly Secret[], ruleset: Ruleset): Secret[] {
  const kept: Secret[] = []
  const strings = stringsIn(text, region)
  let string = strings.next()
  for (const secret of secrets) {
    let at = secret.start
    while (at < secret.end) {
      while (!string.done && string.value.end <= at) string = strings.next()
      const inside = string.done ? undefined : string.value
      if (inside !== undefined && inside.start <= at) {
        const end = Math.min(secret.end, inside.end)
        const isFromBefore = secret.rule === "assignment" || secret.start < inside.start
        kept.push(...inString(text, region, inside, clipped(secret, at, end), isFromBefore, ruleset))
        at = Math.max(end, inside.end === end ? end + 1 : end)
        continue
      }
      const end = Math.min(secret.end, inside?.start ?? region.end)
      kept.push(...between(text, region, clipped(secret, at, end)))
      at = end
    }
  }
  return kept
}

function inString(
  text: string,
  region: Region,
  string: { readonly start: number; readonly end: number },
  secret: Secret,
  isFromBefore: boolean,
  ruleset: Ruleset,
): Secret[] {
  if (isFromBefore && isKey(text, string.end)) {
    // Unless it is one by itself.
    return findSecrets(text.slice(string.start, string.end), ruleset).secrets.length > 0 ? [secret] : []
  }
  if (!holdsJsonIn(text, region, string)) return [secret]
  const open = isFirstOf(region, string) ? region.open.slice(1) : []
  return sparing(text, { ...string, depth: region.depth + 1, open }, [secret], ruleset)
}

/** The string that was open before the region began. */
const isFirstOf = (region: Region, string: { readonly start: number }): boolean =>
  region.open.length > 0 && string.start === region.start

function holdsJsonIn(text: string, region: Region, string: { readonly start: number }): boolean {
  if (isFirstOf(region, string)) return region.open[0]!
  const { depth } = region
  return depth < DEEPEST && HOLDS_JSON[depth]!.test(text.slice(string.start, string.start + TELLING_LENGTH))
}

/** What stands between strings: brackets are no secret, a number may be one. */
function between(text: string, { depth }: Region, secret: Secret): Secret[] {
  const found = text.slice(secret.start, secret.end)
  const number = /^\s*(-?\d[\d.eE+-]*)\s*$/.exec(found)?.[1]
  if (number === undefined && STRUCTURE.test(found)) return []
  if (number === undefined || depth > 0) return [secret]
  const start = secret.start + found.indexOf(number)
  return [{ ...secret, start, end: start + number.length, isNumber: true }]
}

function clipped(secret: Secret, start: number, end: number): Secret {
  return start === secret.start && end === secret.end ? secret : { ...secret, start, end }
}

const DEEPEST = 2
/** So much of a string says whether it holds JSON. */
const TELLING_LENGTH = 80
/**
 * All that JSON has outside its strings; at the end the backslashes of a quote that has not come yet. Anything else there says that the text is
 * no JSON after all.
 */
const STRUCTURE = /^(?:[\s{}[\],:"\d.eE+-]|\\[nrt\\"]|true|false|null)*\\{0,7}$/
const BEFORE_COLON = /\\{0,7}"?(?:\s|\\{1,7}[nrt]){0,16}:/y

function isKey(text: string, end: number): boolean {
  BEFORE_COLON.lastIndex = end
  return BEFORE_COLON.test(text)
}

/** What a string begins with that holds JSON itself. */
const HOLDS_JSON = [
  /^(?:\s|\\[nrt])*(?:\{(?:\s|\\[nrt])*\\"|\[(?:\s|\\[nrt])*(?:\{|\\"))/,
  /^(?:\s|\\\\[nrt])*(?:\{(?:\s|\\\\[nrt])*\\\\\\"|\[(?:\s|\\\\[nrt])*(?:\{|\\\\\\"))/,
] as const

/** The contents of the strings of a region, without their quotes, in order. */
function* stringsIn(text: string, { start, end, depth, open }: Region): Generator<{ start: number; end: number }> {
  let opened = open.length > 0 ? start : -1
  for (let at = text.indexOf('"', start); at >= 0 && at < end; at = text.indexOf('"', at + 1)) {
    if (!isDelimiter(text, at, depth)) continue
    if (opened < 0) opened = at + 1
    else {
      // The backslashes of its closing quote are no part of it.
      yield { start: opened, end: at - (1 << depth) + 1 }
      opened = -1
    }
  }
  if (opened >= 0) yield { start: opened, end }
}

/** Whether a quote begins or ends a string that is so deep: each string around it doubles its backslashes and adds one. */
function isDelimiter(text: string, at: number, depth: number): boolean {
  let backslashes = 0
  while (backslashes < at && text.charCodeAt(at - backslashes - 1) === 0x5c) backslashes++
  for (let i = 0; i < depth; i++) {
    if (backslashes % 2 === 0) return false
    backslashes = (backslashes - 1) / 2
  }
  return backslashes % 2 === 0
}
