import { MASK_MIDDLE } from "../mask.js"
import type { Found } from "../rule.js"
import { endsEscape, isAlphanumeric, isSpace } from "../text-edges.js"
import type { Finder } from "./finder.js"
import { endOfBlanks, GAP_PATTERNS, type Gap, gapAt, readGaps } from "./gap.js"
import { PAIR_PATTERNS, pairedGap, valueOption } from "./paired-value.js"
import { isPublishedExample } from "./published-example.js"
import { kindOfName, type NameKind } from "./secret-names.js"
import { isSecretValue, isUnlikeWords, type Quoting } from "./secret-values.js"
import { columnBelow } from "./table-column.js"
import {
  endOfBareValue,
  endOfElementText,
  endOfOneOfSeveral,
  endOfQuoted,
  endOfStated,
  endOfValueInLine,
  isRestOfText,
  isTooLong,
  type Line,
  LONGEST_VALUE,
  lineAround,
  lineOfName,
  VALUE_END_PATTERNS,
} from "./value-end.js"

/**
 * Values given to telling names, in any notation: `KEY=value`, `"key": "value"`, `key => 'value'`, `--key value`, `<key>value</key>`, also
 * inside JSON strings, where every quote has its backslashes.
 */
export const assignment: Finder = {
  patterns: [...GAP_PATTERNS, ...PAIR_PATTERNS, ...VALUE_END_PATTERNS],
  find(text, keywordAt, keyword) {
    const start = startOfName(text, keywordAt)
    const nameEnd = endOfName(text, keywordAt + keyword.replace(/ is$|[^a-z.]+$/, "").length)
    if (isNameCharacter(text.charCodeAt(nameEnd)) || isEndOfPath(text, start, nameEnd)) return undefined
    const { gaps, closed, moreOfName } = readGaps(text, start, nameEnd)
    const kind = kindOfWholeName(text, start, nameEnd, moreOfName)
    if (kind === undefined) return undefined
    const paired = pairedGap(text, start, nameEnd, closed)
    const values = valuesIn(text, start, nameEnd, kind, paired === undefined ? gaps : [...gaps, paired])
    return values ?? columnBelow(text, start, nameEnd)
  },
}

/** Keywords that are names as they stand, in whatever letters: `Mot de passe`, `\u5bc6\u7801`. */
export const passwordLabel: Finder = {
  patterns: [...GAP_PATTERNS, ...VALUE_END_PATTERNS],
  find(text, keywordAt, keyword) {
    if (isLetterOfWord(text, keywordAt - 1, keywordAt)) return undefined
    const signAt = keyword.search(ENDS_IN_SIGN)
    const nameEnd = keywordAt + (signAt < 0 ? keyword.length : signAt)
    const behind = endOfBlanks(text, keywordAt + keyword.replace(/["'\\]$/, "").length)
    // `ConvertTo-SecureString -String …`: an option, and no value.
    if (signAt >= 0 && text.charCodeAt(behind) === HYPHEN && keyword.charAt(signAt) === " ") return undefined
    const gaps =
      signAt >= 0
        ? [gapAt(text, behind, keyword.charAt(signAt) === " " ? { isLiteral: true } : { ends: "line of name" })]
        : readGaps(text, keywordAt, nameEnd).gaps.filter(
            ({ valueAt, ends }) => ends === "blank" || LABEL_SIGN.test(text.slice(nameEnd, valueAt)),
          )
    return valuesIn(text, keywordAt, nameEnd, "password", gaps)
  },
}

/** A blank for what a program reads; a colon, which Chinese writes wide, for what people do. The last two are as UTF-8 shows byte by byte. */
const ENDS_IN_SIGN = / ["'\\]?$|[:=\uff1a\u662f]$|\u00ef\u00bc\u009a$|\u00e6\u0098\u00af$/
const LABEL_SIGN = /[:=\uff1a\uff1d\u662f]/

/** Whether a word goes on here, in letters that are written with gaps between words. */
const isLetterOfWord = (text: string, at: number, next: number): boolean =>
  at >= 0 && /[\p{Ll}\p{Lu}]/u.test(text.charAt(at)) && !endsEscape(text, next)

function valuesIn(
  text: string,
  nameStart: number,
  nameEnd: number,
  kind: NameKind,
  gaps: readonly Gap[],
): readonly Found[] | undefined {
  if (gaps.length === 0) return undefined
  const name: Name = { start: nameStart, end: nameEnd, isLiteral: standsForItself(text, nameStart, nameEnd) }
  const values: Found[] = []
  for (const gap of gaps) {
    const value = readValue(text, gap, kind, name)
    if (value !== undefined) values.push(value)
  }
  return values
}

interface Name {
  readonly start: number
  readonly end: number
  /** What follows its sign can only be the value itself. */
  readonly isLiteral: boolean
}

/**
 * `"/etc/passwd","content":…` names a file; only a sign right behind the name makes it a name that is given something. In an address
 * (`https://x-access-token:…@host`) it is a user, and where the password ends is known better there.
 */
function isEndOfPath(text: string, start: number, nameEnd: number): boolean {
  if (text.startsWith("://", start - 3)) return true
  if (text.charCodeAt(start - 1) !== 0x2f || "=:".includes(text.charAt(nameEnd) || " ")) return false
  return valueOption(text, nameEnd) === undefined
}

const LONGEST_NAME = 48

/**
 * `DB_PASSWORD=…` in an environment, `;Pwd=…` in a connection string, `?password=…` in an address and `login failed: password=…` in a log: what
 * follows is the value itself, never the name of a variable, as it may be in code.
 */
function standsForItself(text: string, start: number, nameEnd: number): boolean {
  if (text.charCodeAt(nameEnd) !== EQUALS || isSpace(text.charCodeAt(nameEnd + 1))) return false
  if (start > 0 && ";?&".includes(text.charAt(start - 1))) return true
  if (text.startsWith("--", start) || text.startsWith(":_", start - 1)) return true
  const name = text.slice(start, nameEnd)
  if (name.length <= 3 || name.endsWith("OLDPWD")) return false
  return /^[A-Z][A-Z0-9_]*$/.test(name) || !isInCode(text, start, nameEnd)
}

/** What gives a value to a variable, a member or an argument. */
function isInCode(text: string, start: number, nameEnd: number): boolean {
  if (/[.$]/.test(text.slice(start, nameEnd)) || text.charCodeAt(nameEnd + 1) === EQUALS) return true
  const before = text.slice(Math.max(0, start - LONGEST_LEAD), start)
  const lead = before.slice(before.lastIndexOf("\n") + 1)
  return lead.lastIndexOf("(") > lead.lastIndexOf(")") || (/\s$/.test(lead.slice(-1)) && DECLARES.test(lead))
}
const LONGEST_LEAD = 200
const DECLARES = /\b(?:const|let|var|val|static|final|return)\s+$/

const isNameCharacter = (code: number): boolean =>
  isAlphanumeric(code) || code === 0x5f || code === 0x2d || code === 0x2e || code === 0x24

export function startOfName(text: string, at: number): number {
  const first = Math.max(0, at - LONGEST_NAME)
  let start = at
  while (start > first && isNameCharacter(text.charCodeAt(start - 1)) && !endsEscape(text, start)) start--
  return start
}

/** Of a name of two words, else of the last of them: the first may belong to the sentence (`use password=…`, `invalid password=…`). */
function kindOfWholeName(text: string, start: number, nameEnd: number, moreOfName: string): NameKind | undefined {
  const twoWords = kindOfName(text.slice(startOfTwoWords(text, start, nameEnd), nameEnd) + moreOfName)
  if (twoWords !== undefined || text.charCodeAt(nameEnd) !== EQUALS) return twoWords
  return kindOfName(text.slice(start, nameEnd) + moreOfName)
}
const EQUALS = 0x3d
const HYPHEN = 0x2d

/** `Secret Key: …` and `API token = …` are names of two words; `is DB_PASSWORD=…` and `use password "…"` have a name of one. */
function startOfTwoWords(text: string, start: number, end: number): number {
  if (text.charCodeAt(start - 1) !== 0x20 || text.slice(start, end).includes("_")) return start
  let before = start - 1
  while (before > 0 && start - before < 20 && isAlphanumeric(text.charCodeAt(before - 1))) before--
  return before < start - 1 && !/^(?:us(?:e|ing)|with|enter|set)$/i.test(text.slice(before, start - 1)) ? before : start
}

function endOfName(text: string, at: number): number {
  const last = Math.min(text.length, at + LONGEST_NAME)
  let end = at
  while (end < last && isNameCharacter(text.charCodeAt(end))) end++
  return end
}

function readValue(text: string, gap: Gap, kind: NameKind, name: Name): Found | undefined {
  if (gap.isWeak && kind !== "password" && !(kind === "secret" && gap.quote === "")) return undefined
  const start = gap.valueAt
  if (gap.quote === "") return readUnquoted(text, gap, kind, name)
  const end = endOfQuoted(text, gap)
  if (end !== undefined) {
    const quoting = gap.isWeak || gap.isListed ? "named" : "quoted"
    // `"pass": "the element has a title"` is the outcome of a check.
    if (/^pass$/i.test(text.slice(name.start, name.end)) && PROSE.test(text.slice(start, end))) return undefined
    return end > start && isSecret(text.slice(start, end), kind, quoting) ? { start, end } : undefined
  }
  // A quote that is not closed: it may be before long, if the text ends here; until then the value is what a bare one would be.
  const isOpen = text.length - start < LONGEST_VALUE && !text.slice(start).includes("\n")
  const bareEnd = isOpen && isRestOfText(text, start) ? text.length : endOfBareValue(text, start)
  // What a mask hides may have ended the line, and was judged then.
  const quoting = isOpen && !text.includes(MASK_MIDDLE, start) ? "quoted" : "bare"
  const isFound = bareEnd > start && isSecret(text.slice(start, bareEnd), kind, quoting)
  if (isOpen) return { start, end: isFound ? bareEnd : start, open: true }
  return isFound ? { start, end: bareEnd } : undefined
}

/** Words, or a script that is written without gaps between them. */
const PROSE = /\s|[\u0e00-\u0eff\u3001-\u9fff]/

/** The longest reading that can be a secret: where a value has its line or its element to itself, it may hold any sign. */
function readUnquoted(text: string, gap: Gap, kind: NameKind, name: Name): Found | undefined {
  const start = gap.valueAt
  const unquoted: Quoting = name.isLiteral ? "assigned" : gap.isLiteral ? "literal" : "bare"
  const found = (end: number | undefined, quoting: Quoting): Found | undefined =>
    end !== undefined && end > start && isSecret(text.slice(start, end), kind, quoting) ? { start, end } : undefined
  const bareEnd = endOfBareValue(text, start)
  const bare = (): Found | undefined => found(bareEnd, unquoted)
  if (gap.isWeak) {
    const end = [endOfStated(text, start), bareEnd].find((end) => isUnlikeWords(text.slice(start, end)))
    return found(end, "literal")
  }
  if (gap.ends === "tag") return found(endOfElementText(text, start), "literal") ?? bare()
  if (gap.ends === "blank") return found(endOfStated(text, start), unquoted) ?? bare()
  if (gap.ends === "word" || isTooLong(text, start)) return bare()
  const before = text.charAt(name.start - 1)
  if (name.isLiteral && ";?&".includes(before || " ")) {
    return found(endOfOneOfSeveral(text, start, before === ";" ? ";" : "&"), unquoted) ?? bare()
  }
  const line =
    gap.ends === "line" || text.startsWith(":_", name.start - 1)
      ? lineAround(text, start)
      : lineOfName(text, name.start)
  if (line === undefined) return bare()
  const end = Math.max(bareEnd, endOfValueInLine(text, start, line))
  const isPlace = /^PWD$/i.test(text.slice(name.start, name.end))
  const isOneValue = gap.ends === "line" || (!isPlace && isAlone(text, start, end, line))
  return found(end, unquoted === "bare" && isOneValue ? "literal" : unquoted) ?? bare()
}

/** Nothing follows it in its line, and it follows its sign as in a file of settings and not as in code. */
function isAlone(text: string, start: number, end: number, line: Line): boolean {
  ENDS_LINE.lastIndex = end
  if (!ENDS_LINE.test(text) && !(line.quote !== "" && text.charAt(end) === line.quote)) return false
  const before = text.slice(Math.max(0, start - 3), start)
  return !/ = ?$/.test(before) || IN_SECTION.test(text.slice(Math.max(0, start - 400), start))
}
const ENDS_LINE = /(?:$|\r?\n|\\{1,8}[nr]|\\{0,8}"[\s,}\]])/y
/** `[database]` on a line of its own: this is no program. */
const IN_SECTION = /(?:^|\n|\\n|")[^\n\\]{0,60}\[[\w. :"-]{1,40}\](?:\r?\n|\\{1,8}[rn])/

export const isSecret = (value: string, kind: NameKind, quoting: Quoting): boolean =>
  isSecretValue(value, kind, quoting) && !isPublishedExample(value)
