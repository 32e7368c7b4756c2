import { isEndOfMask, isMask } from "../mask.js"
import type { Found, Rule, SweepRule } from "../rule.js"
import { beginsWord, endsWord, isAlphanumeric } from "../text-edges.js"
import { isInsideBase64 } from "./character-run.js"
import { GAP_PATTERNS, readGaps } from "./gap.js"
import { looseForm } from "./loose-form.js"
import { isPlaceholder } from "./placeholder.js"
import { acceptsAll } from "./predicates.js"
import { isPublishedExample } from "./published-example.js"
import type { FormData, NamedData, PhraseData, Start, SweepData } from "./rule-data.js"
import { looksRandom } from "./secret-values.js"

/** What a rule does where one of its keywords stands, and every pattern it does it with. */
export type Finder = Pick<Rule, "find" | "patterns">

export function formFinder({ start, pattern, ignoreCase, accept, fillerIsSecret, exact }: FormData): Finder {
  const begin = beginning(start)
  const sticky = stickyPattern(pattern, ignoreCase)
  const accepts = acceptsAll(accept)
  const loose = exact || start !== undefined ? undefined : looseForm(pattern)
  const wholeForm = (text: string, at: number): Found | undefined => {
    sticky.lastIndex = at
    const secret = sticky.exec(text)?.[0]
    if (secret === undefined || !endsWord(text, at + secret.length)) return undefined
    const isNone =
      isPlaceholder(fillerIsSecret ? secret.replace(/[xX]{6,}/g, "") : secret) ||
      !accepts(secret) ||
      isPublishedExample(secret)
    return isNone ? undefined : { start: at, end: at + secret.length }
  }
  return {
    patterns: [...begin.patterns, sticky],
    find(text, keywordAt, keyword) {
      const at = begin.find(text, keywordAt)
      if (at < 0) return undefined
      if (!beginsWord(text, at))
        return isGlued(text, at, keyword) ? drawnBehind(text, keyword, wholeForm(text, at)) : undefined
      const found = wholeForm(text, at) ?? loose?.(text, at, text.slice(at, at + keyword.length))
      if (found === undefined || (isPlain(keyword) && isInsideBase64(text, found.start, found.end))) return undefined
      return found
    },
  }
}

/** Nothing in it that base64 does not have: a picture holds such a word sooner or later. */
const isPlain = (keyword: string): boolean => /^[A-Za-z0-9+/]{1,8}$/.test(keyword)

/**
 * `tokenghp_…`: a prefix that no word holds by chance counts behind other letters too, where they are a word and no long run of base64; then only
 * the whole form does, with a body that was drawn by lot.
 */
function isGlued(text: string, at: number, keyword: string): boolean {
  if (keyword.length < 4 || !/[a-z][_-]$/i.test(keyword) || isEndOfMask(text, at)) return false
  let start = at
  while (start > at - LONGEST_GLUED && isKeyCharacter(text.charCodeAt(start - 1))) start--
  return start > at - LONGEST_GLUED
}
const LONGEST_GLUED = 32
const isKeyCharacter = (code: number): boolean => isAlphanumeric(code) || code === 0x2d || code === 0x5f

function drawnBehind(text: string, keyword: string, found: Found | undefined): Found | undefined {
  return found !== undefined && looksRandom(text.slice(found.start + keyword.length, found.end), 16) ? found : undefined
}

export function phraseFinder({ start, pattern, ignoreCase, accept, beginsWord: atWord }: PhraseData): Finder {
  const begin = beginning(start)
  const sticky = stickyPattern(pattern, ignoreCase)
  const accepts = acceptsAll(accept)
  return {
    patterns: [...begin.patterns, sticky],
    find(text, keywordAt) {
      const at = begin.find(text, keywordAt)
      if (at < 0 || (atWord && !beginsWord(text, at))) return undefined
      sticky.lastIndex = at
      const secret = sticky.exec(text)?.findLast((group) => group !== undefined)
      if (secret === undefined || !accepts(secret)) return undefined
      return { start: sticky.lastIndex - secret.length, end: sticky.lastIndex }
    },
  }
}

export function namedFinder({ name, nameIgnoresCase, pattern, ignoreCase }: NamedData): Finder {
  const stickyName = stickyPattern(name, nameIgnoresCase)
  const stickyValue = stickyPattern(`${pattern}(?![\\w-])`, ignoreCase)
  return {
    patterns: [stickyName, stickyValue, ...GAP_PATTERNS],
    find(text, keywordAt) {
      stickyName.lastIndex = keywordAt
      if (!stickyName.test(text)) return undefined
      return readGaps(text, keywordAt, stickyName.lastIndex).gaps.flatMap(({ valueAt }): Found[] => {
        stickyValue.lastIndex = valueAt
        const found = stickyValue.exec(text)?.[0]
        if (found === undefined || isMask(found) || isPlaceholder(found)) return []
        return [{ start: valueAt, end: valueAt + found.length }]
      })
    },
  }
}

export function sweepRule({ id, about, from, pattern, ignoreCase, longest, accept }: SweepData): SweepRule {
  return {
    id,
    about,
    from,
    pattern: new RegExp(pattern, ignoreCase ? "gi" : "g"),
    longest,
    accepts: acceptsAll(accept),
  }
}

interface Beginning {
  /** Where the match begins; below zero where it cannot. */
  find(text: string, keywordAt: number): number
  readonly patterns: readonly RegExp[]
}

function beginning(start: Start | undefined): Beginning {
  if (start === undefined) return { find: (_, keywordAt) => keywordAt, patterns: [] }
  if ("offset" in start) return { find: (_, keywordAt) => keywordAt + start.offset, patterns: [] }
  if ("behind" in start) {
    const lead = stickyPattern(start.behind, start.ignoreCase)
    return {
      find: (text, keywordAt) => {
        lead.lastIndex = keywordAt
        return lead.test(text) ? lead.lastIndex : -1
      },
      patterns: [lead],
    }
  }
  const one = new RegExp(start.back)
  return {
    find: (text, keywordAt) => {
      let at = keywordAt
      while (at > 0 && keywordAt - at < start.most && one.test(text.charAt(at - 1))) at--
      return at
    },
    patterns: [],
  }
}

const stickyPattern = (source: string, ignoreCase = false): RegExp => new RegExp(source, ignoreCase ? "iy" : "y")
