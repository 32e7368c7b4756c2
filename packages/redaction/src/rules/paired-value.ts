import { nextLine } from "../gutters.js"
import { isLetter } from "../text-edges.js"
import { endOfBlanks, type Gap, gapAt } from "./gap.js"
import { endOfQuoted } from "./value-end.js"

/**
 * A name in one place of a structure and its value in another: `{"name":"DB_PASSWORD","value":"…"}`, `- name: DB_PASSWORD` with `value: …` below it,
 * `<property name="password" value="…">`, `variable "db_password" { default = "…" }`, `<key>password</key><string>…</string>`.
 */

/** What says of its text that it names something. */
const NAMING =
  /(?:^|[^A-Za-z])(?:[A-Za-z]{0,12}[_-]?(?:name|key)|id|label|selector|placeholder|element|field|variable|locator|css|xpath|target|header|attribute|property|option|setting|title|type|autocomplete|description|question|prompt)$/i
const LONGEST_NAMING = 20
const NAMED_OPENS = /[ \t]{0,4}(\\{0,8})(["']?)/y
const FURTHEST_LABEL = 200
const LABEL_OF_VALUE = /^(?:[A-Za-z_-]{0,14}value|val|text|[A-Za-z_-]{0,8}default|plaintext|answer)$/i
/** In a structure that is itself called by the name. */
export const LABEL_INSIDE = /^(?:[A-Za-z_-]{0,14}value|val|default|plaintext|key|secret|data)$/i

const BETWEEN = /(?:[ \t,;]|\r?\n[ \t]{0,40}|\\{1,8}[nrt]){1,60}/y
const KEY = /\\{0,8}["']?([A-Za-z_][\w.:-]{0,40})\\{0,8}["']?[ \t]{0,8}[:=][ \t]{0,8}/y
const OPENING = /(\\{0,8})(["'])/y
const PLAIN = /[^\s,;{}[\]<>\\"']{0,120}/y
const REST_OF_LINE = /[^\n\\{}[\]"']{0,120}/y
const BEGINS_INSIDE = /[ \t]{0,4}[:=]?[ \t]{0,4}\{/y
const BEGINS_BELOW = /:[ \t]{0,4}(?=\r?\n|\\{1,8}(?:r\\{1,8})?n)/y
const TAG_ENDS = /[ \t]{0,4}>(?:\s|\\{1,8}[nrt]){0,24}/y
const NAME_ENDS = /<\/[\w:]{0,20}(?:name|key|label|title|td|th|dt)>/iy
const SPACE = /(?:\s|\\{1,8}[nrt]){0,40}/y
const VALUE_BEGINS = /<(?:[\w:]{0,20}value|string|td|dd)(?: [^>\n]{0,80})?>(?:\s|\\{1,8}[nrt]){0,24}/iy
const OPENS_OBJECT = /\{(?:\s|\\{1,8}[nrt]){0,40}/y
const VALUE_OPTION =
  /(?: {1,2}--?[\w-]{1,24}(?:[= ][\w./:@-]{1,60})?){0,3} {1,2}--?(?:value|body|secret-string|secret-value|plaintext)[= ]{1,2}/iy
const MOST_SIBLINGS = 8
/** No words before it: `elif kind not in tokens:` begins no mapping. */
const BEGINS_LINE = /(?:^|[\n\t"']|\\n|[^A-Za-z] ) {0,40}[^A-Za-z ]{0,3}$/

export const PAIR_PATTERNS: readonly RegExp[] = [
  ...[
    NAMING,
    NAMED_OPENS,
    BETWEEN,
    KEY,
    OPENING,
    PLAIN,
    REST_OF_LINE,
    BEGINS_INSIDE,
    BEGINS_BELOW,
    TAG_ENDS,
    NAME_ENDS,
  ],
  ...[SPACE, VALUE_BEGINS, OPENS_OBJECT, VALUE_OPTION],
]

/**
 * Where the value of a name stands that something else calls a name.
 *
 * @param closed behind the quotes and brackets that follow the name
 */
export function pairedGap(text: string, nameStart: number, nameEnd: number, closed: number): Gap | undefined {
  const at = pairedValue(text, nameStart, nameEnd, closed)
  if (at === undefined) return undefined
  const isText =
    /[>\s]/.test(text.charAt(at - 1)) &&
    /(?:>|&gt;)(?:\s|\\{1,8}[nrt]){0,24}$/.test(text.slice(Math.max(0, at - 60), at))
  return gapAt(text, at, { isLiteral: true, ends: isText ? "tag" : "line" })
}

function pairedValue(text: string, nameStart: number, nameEnd: number, closed: number): number | undefined {
  const element = text.charAt(nameEnd) === "<" ? nextElement(text, nameEnd) : undefined
  if (element !== undefined) return element
  const next = text.charAt(closed)
  if (next === ":" || next === "=" || next === " " || next === "{") {
    const inside = after(BEGINS_INSIDE, text, closed)
    if (inside !== undefined) return siblingValue(text, inside, LABEL_INSIDE)
    const below =
      next === ":" && BEGINS_LINE.test(text.slice(Math.max(0, nameStart - 48), nameStart))
        ? after(BEGINS_BELOW, text, closed)
        : undefined
    if (below !== undefined) return siblingValue(text, below, LABEL_OF_VALUE)
  }
  if (next === ":" || next === "=") return undefined
  const flag = valueOption(text, closed)
  if (flag !== undefined) return flag
  for (const named of endsOfNaming(text, nameStart, nameEnd)) {
    const value = siblingValue(text, named, LABEL_OF_VALUE)
    if (value !== undefined) return value
  }
  return undefined
}

/** `--name /app/db_password --value …`, `secret set DEPLOY_KEY --body …`. */
export function valueOption(text: string, at: number): number | undefined {
  return text.charAt(at) === " " ? after(VALUE_OPTION, text, at) : undefined
}

/** `<name>…</name>` and then `<value>`. */
function nextElement(text: string, nameEnd: number): number | undefined {
  const closed = after(NAME_ENDS, text, nameEnd)
  if (closed === undefined) return undefined
  const lines = [closed, nextLine(text, closed, 1) ?? closed, nextLine(text, closed) ?? closed]
  return lines.map((at) => after(VALUE_BEGINS, text, after(SPACE, text, at)!)).find((at) => at !== undefined)
}

/** Where the text ends that is called a name, and which holds this one: labels from the last one on. */
function* endsOfNaming(text: string, nameStart: number, nameEnd: number): Generator<number> {
  let sign = lastNaming(text, nameStart)
  for (let labels = 0; sign >= 0 && labels < MOST_LABELS; labels++) {
    const end = endOfNaming(text, sign, nameStart, nameEnd)
    if (end !== undefined) yield end
    sign = lastNaming(text, sign - 1)
  }
}
const MOST_LABELS = 2

function endOfNaming(text: string, sign: number, nameStart: number, nameEnd: number): number | undefined {
  NAMED_OPENS.lastIndex = sign
  const [, backslashes = "", quote = ""] = NAMED_OPENS.exec(text)!
  const valueAt = NAMED_OPENS.lastIndex
  if (quote === "") {
    // Of YAML, where nothing but the name stands behind the label.
    return valueAt === nameStart && backslashes === "" ? nameEnd : undefined
  }
  const end = endOfQuoted(text, { valueAt, quote, depth: backslashes.length })
  return end === undefined || end < nameEnd ? undefined : end + backslashes.length + 1
}

/** Behind the sign of the last label before a place, from the last sign on: a hostile text is made of labels. Negative where there is none. */
function lastNaming(text: string, before: number): number {
  const first = Math.max(0, before - FURTHEST_LABEL)
  for (let at = before - 1; at > first; at--) {
    const code = text.charCodeAt(at)
    if (code !== COLON && code !== EQUALS) continue
    const end = endOfLabel(text, at)
    if (end > first && NAMING.test(text.slice(Math.max(first, end - LONGEST_NAMING), end))) return at + 1
  }
  return -1
}

/** Where the letters before a sign end: blanks, a quote and its backslashes may stand between. */
function endOfLabel(text: string, sign: number): number {
  let end = sign
  while (end > sign - 4 && (text.charCodeAt(end - 1) === 0x20 || text.charCodeAt(end - 1) === 0x09)) end--
  if (text.charCodeAt(end - 1) === 0x22 || text.charCodeAt(end - 1) === 0x27) end--
  const behind = end
  while (end > behind - 8 && text.charCodeAt(end - 1) === 0x5c) end--
  return isLetter(text.charCodeAt(end - 1)) ? end : -1
}
const COLON = 0x3a
const EQUALS = 0x3d

/** The value of the first of the following entries that says it holds one. */
function siblingValue(text: string, from: number, label: RegExp): number | undefined {
  let at = from
  for (let siblings = 0; siblings < MOST_SIBLINGS; siblings++) {
    const tagEnd = after(TAG_ENDS, text, at)
    if (tagEnd !== undefined) return tagEnd
    const between = after(BETWEEN, text, at) ?? at
    const key = keyAt(text, between) ?? keyBehindGutter(text, at)
    if (key === undefined) return undefined
    const value = key.index + key[0].length
    if (label.test(key[1]!)) return after(OPENS_OBJECT, text, value) === undefined ? value : wrappedValue(text, value)
    const skipped = endOfValue(text, value)
    if (skipped === undefined) return undefined
    at = skipped
  }
  return undefined
}

/** `"value":{"stringValue":"…"}` of OpenTelemetry: the value says of what type it is. */
function wrappedValue(text: string, at: number): number | undefined {
  const key = keyAt(text, after(OPENS_OBJECT, text, at)!)
  return key !== undefined && LABEL_OF_VALUE.test(key[1]!) ? key.index + key[0].length : undefined
}

function keyAt(text: string, at: number): RegExpExecArray | undefined {
  KEY.lastIndex = at
  return KEY.exec(text) ?? undefined
}

function keyBehindGutter(text: string, at: number): RegExpExecArray | undefined {
  const line = nextLine(text, lineEndBefore(text, at))
  return line === undefined ? undefined : keyAt(text, endOfBlanks(text, line))
}

/** Where the line break begins that follows here, a comma left out. */
function lineEndBefore(text: string, at: number): number {
  let end = at
  while (end < at + 3 && ",; ".includes(text.charAt(end) || "\n")) end++
  return end
}

function endOfValue(text: string, at: number): number | undefined {
  OPENING.lastIndex = at
  const opening = OPENING.exec(text)
  if (opening === null) {
    const plain = after(PLAIN, text, at)!
    // Of YAML, where blanks are part of it.
    return text.charAt(plain) === " " ? after(REST_OF_LINE, text, plain) : plain
  }
  const [, backslashes = "", quote = ""] = opening
  const end = endOfQuoted(text, { valueAt: OPENING.lastIndex, quote, depth: backslashes.length })
  return end === undefined ? undefined : end + backslashes.length + 1
}

function after(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}
