/** What a value is that comes out different by itself: at another time, in another process, on another machine. */
export type VolatileKind = "time" | "epoch" | "uuid" | "hex" | "counter" | "temp_path"

export interface VolatileSpan {
  readonly kind: VolatileKind
  /** In characters. */
  readonly start: number
  readonly length: number
}

/** The volatile values in the JSON text of a part, in order, none inside another. */
export function volatileSpans(text: string): readonly VolatileSpan[] {
  const paths = [...text.matchAll(TEMP_PATH)].map((match) => spanOf("temp_path", match.index, match[0].length))
  const spans: VolatileSpan[] = []
  let end = 0
  let path = 0
  DIGITS.lastIndex = 0
  // Whatever is volatile has digits, and most digits are told not to be at a look at their neighbours: one pattern for all is ten times slower.
  for (let run = DIGITS.exec(text); run !== null; run = DIGITS.exec(text)) {
    while (path < paths.length && paths[path]!.start < run.index) path++
    const before = paths[path - 1]
    if (before !== undefined && run.index < before.start + before.length) continue
    const found = run.index < end ? undefined : spanAt(text, run.index, run[0].length)
    if (found === undefined || found.start < end) continue
    spans.push(found)
    end = found.start + found.length
    DIGITS.lastIndex = Math.max(DIGITS.lastIndex, end)
  }
  return paths.length === 0 ? spans : [...spans, ...paths].sort((a, b) => a.start - b.start)
}

const DIGITS = /\d+/g
const TEMP_PATH = /(?:\/private)?\/(?:tmp|var\/folders|var\/tmp)\/[\w.@+/-]+|(?<=\\)Temp\\\\?[\w.@+\\-]+/g

const spanOf = (kind: VolatileKind, start: number, length: number): VolatileSpan => ({ kind, start, length })

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-z])/iy
const HEX = /[0-9a-f]{16,}(?![0-9a-z])/iy
const CLOCK = String.raw`\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?[AaPp]\.?[Mm]\b)?`
const MONTH = "(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*"
const TIMES = {
  "-": new RegExp(String.raw`\d{4}-\d\d-\d\d(?:[T ]${CLOCK}(?:Z|[+-]\d\d:?\d\d)?)?(?!\d)`, "y"),
  ":": new RegExp(String.raw`${CLOCK}(?!\d)`, "y"),
  "/": /\d{1,4}\/\d{1,2}\/\d{2,4}(?!\d)/y,
  ".": /\d{1,2}\.\d{1,2}\.\d{4}(?!\d)/y,
  " ": new RegExp(String.raw`\d{1,2} ${MONTH}\.?,? \d{4}(?!\d)`, "y"),
}
const OF_MONTH = /\d{1,2}(?:st|nd|rd|th)?,? \d{4}(?!\d)/y
const MONTH_BEFORE = new RegExp(String.raw`(?:^|[^a-z])(${MONTH}\.? )$`, "i")
const SHARE = /\d+ of \d+(?!\d)/y
const COUNTED =
  /(?:#|(?:^|[^a-z])(?:turn|step|attempt|iteration|request|message|call|run|round|seq|sequence|counter|count|nr|no|try|retry|tick|build|remaining|used|left|pid)\\?["' ]{0,2}[:=# _-]{1,2})$/i

function spanAt(text: string, at: number, digits: number): VolatileSpan | undefined {
  const next = text[at + digits] ?? ""
  const previous = text[at - 1] ?? ""
  const isInWord = /[0-9a-z_]/i.test(previous) && !isEscape(text, at)
  if (isInWord || /[0-9a-f-]/i.test(next)) {
    const word = isInWord ? hexStart(text, at) : at
    const id = word === undefined ? 0 : lengthAt(UUID, text, word)
    if (id > 0) return spanOf("uuid", word!, id)
    const hex = word === undefined || (digits >= 16 && !isInWord) ? 0 : lengthAt(HEX, text, word)
    if (hex > 0) return spanOf("hex", word!, hex)
    if (isInWord) return undefined
  }
  if (digits <= 4 && next in TIMES) {
    const time = lengthAt(TIMES[next as keyof typeof TIMES], text, at)
    if (time > 0) return spanOf("time", at, time)
  }
  if (digits <= 2 && previous === " ") {
    const month = MONTH_BEFORE.exec(text.slice(Math.max(0, at - 12), at))?.[1]
    const day = month === undefined ? 0 : lengthAt(OF_MONTH, text, at)
    if (day > 0) return spanOf("time", at - month!.length, month!.length + day)
  }
  if (/[a-z_]/i.test(next)) return undefined
  if (EPOCH_DIGITS.has(digits) && /^1[5-9]/.test(text.slice(at, at + 2))) return spanOf("epoch", at, digits)
  if (digits >= 16) return spanOf("hex", at, digits)
  if (next === " ") {
    const share = lengthAt(SHARE, text, at)
    if (share > 0) return spanOf("counter", at, share)
  }
  const isWhole = next !== "." || !/\d/.test(text[at + digits + 1] ?? "")
  if (digits > 9 || !isWhole || !/[#:= _-]/.test(previous)) return undefined
  return COUNTED.test(text.slice(Math.max(0, at - 16), at)) ? spanOf("counter", at, digits) : undefined
}

/** Of seconds, milliseconds, microseconds and nanoseconds since 1970, in this century. */
const EPOCH_DIGITS: ReadonlySet<number> = new Set([10, 13, 16, 19])

function lengthAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0].length ?? 0
}

/** In JSON text an escaped line break ends in a letter, which is no part of the word behind it. */
const isEscape = (text: string, at: number): boolean => text[at - 2] === "\\" && /[nrtbf]/.test(text[at - 1]!)

/** Where the hex word around a digit begins; undefined where it is a word with other letters. */
function hexStart(text: string, at: number): number | undefined {
  let start = at
  while (start > 0 && /[0-9a-f]/i.test(text[start - 1]!) && !isEscape(text, start)) start--
  return start === 0 || isEscape(text, start) || !/[0-9a-z_]/i.test(text[start - 1]!) ? start : undefined
}

/** The text with the kind of every volatile value in its place. */
export function withoutVolatile(text: string, spans: readonly VolatileSpan[]): string {
  let stable = ""
  let at = 0
  for (const { kind, start, length } of spans) {
    stable += `${text.slice(at, start)}<${kind}>`
    at = start + length
  }
  return stable + text.slice(at)
}
