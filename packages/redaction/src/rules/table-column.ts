import { endOfGutter } from "../gutters.js"
import { LEAD } from "../rule.js"
import { isSecret } from "./assignment.js"
import type { Finder } from "./finder.js"
import { kindOfName, type NameKind } from "./secret-names.js"

/**
 * Columns with a telling heading: tables of Markdown and of database shells, known by the line below their heading, and files of values with a
 * comma, semicolon or tab between them, known by a first line of nothing but names.
 */
const LINE_BREAK = /\r?\n|\\{1,8}(?:r\\{1,8})?n/g
const RULE_OF_TABLE =
  /^[ \t]{0,12}\|?[ \t]{0,4}:?-{2,200}:?[ \t]{0,4}(?:[|+][ \t]{0,4}:?-{1,200}:?[ \t]{0,4}){1,40}[|+]?[ \t]{0,4}$/
const NAMES = /^(?:\\{0,8}["'])?[A-Za-z_][\w.-]{0,40}(?:\\{0,8}["'])?([,;\t])[\w.,;\t "'\\-]{1,400}$/
/** A whole text may be the value of a field in an address. */
const FIELD = /^[\w.-]{1,20}=(?=[|\w])/
const BEGINS_RULE = /\|[ \t]?:?-|-\+-/
const QUOTED_CELL = /^(\\{0,8}["'`]|\*\*)([^\n]{1,400})\1$/

export const TABLE_PATTERNS: readonly RegExp[] = [LINE_BREAK, RULE_OF_TABLE, NAMES, QUOTED_CELL]

export const tableColumn: Finder = {
  patterns: TABLE_PATTERNS,
  find(text, at) {
    // An earlier keyword of the same line had it looked at.
    const lead = text.slice(Math.max(0, at - 120), at)
    if (BEGINS_RULE.test(lead.slice(Math.max(lead.lastIndexOf("\n"), lead.lastIndexOf("\\n")) + 1))) return undefined
    const line = lineAround(text, at)
    const gutter = line.before < 0 ? undefined : gutterOfRule(text.slice(line.start, line.end), at - line.start)
    if (gutter === undefined) return undefined
    return valuesBelow(
      text,
      lineAround(text, line.before),
      line.next,
      "|",
      likeGutter(gutter.trim() === "" ? "" : gutter),
    )
  },
}

/** What stands before the rule of a table; undefined where the line has none, or an earlier keyword had it looked at. */
function gutterOfRule(line: string, keywordAt: number): string | undefined {
  const first = line.search(BEGINS_RULE)
  if (first < keywordAt) return undefined
  let start = line.length
  while (start > 0 && "|+:- \t".includes(line.charAt(start - 1))) start--
  for (let at = start; at <= start + 8; at++) if (RULE_OF_TABLE.test(line.slice(at))) return line.slice(0, at)
  return undefined
}

/** The values of a name that heads a column, in a file of values. */
export function columnBelow(text: string, nameStart: number, nameEnd: number): readonly Stretch[] | undefined {
  const around = text.charAt(nameStart - 1) + text.charAt(nameEnd)
  if (!/[,;\t]/.test(around)) return undefined
  const heading = lineAround(text, nameStart)
  const gutterEnd =
    heading.start === 0 && FIELD.test(text)
      ? FIELD.exec(text)![0].length
      : Math.min(endOfGutter(text, heading.start), nameStart)
  const gutter = FIELD.test(text) ? "" : text.slice(heading.start, gutterEnd)
  // A row of names below names is a row.
  if (heading.before >= 0 && NAMES.test(lineText(text, heading.before))) return undefined
  const delimiter = NAMES.exec(text.slice(gutterEnd, heading.end))?.[1]
  return delimiter === undefined
    ? undefined
    : valuesBelow(text, heading, heading.next, delimiter, likeGutter(gutter), nameStart)
}

function lineText(text: string, at: number): string {
  const { start, end } = lineAround(text, at)
  return text.slice(start, end)
}

/** What tools put before a line, as it stands before the others: with another number. */
function likeGutter(gutter: string): RegExp {
  const like = gutter
    .slice(0, 80)
    .replace(/[^\w\s]/g, "\\$&")
    .replace(/[ \t]*\d+/g, "[ \\t]{0,8}\\d{1,9}")
  return new RegExp(like, "y")
}

const REACH = 1024

interface Stretch {
  readonly start: number
  readonly end: number
}

interface Line extends Stretch {
  /** In the line before, at its end; below zero where there is none. */
  readonly before: number
  /** Where the next line begins; undefined where the text ends with this one. */
  readonly next: number | undefined
}

function lineAround(text: string, at: number): Line {
  const from = Math.max(0, at - REACH)
  let start = at
  while (start > from && !endsLineBreak(text, start)) start--
  const before = start > from ? startOfLineBreak(text, start) : -1
  if (before < 0) {
    // The first line of a string.
    const opened = Math.max(text.lastIndexOf('"', at - 1), from - 1) + 1
    if (
      opened > from &&
      /(?:[:,[({=\s]|^)$/.test(text.slice(Math.max(0, opened - 16), opened).replace(/\\{0,8}"$/, ""))
    )
      start = opened
  }
  return { start, before, ...endOfLine(text, at) }
}

const endsLineBreak = (text: string, at: number): boolean =>
  text.charCodeAt(at - 1) === 0x0a || (text.charCodeAt(at - 1) === 0x6e && text.charCodeAt(at - 2) === 0x5c)

function startOfLineBreak(text: string, end: number): number {
  let start = end - 1
  while (start > end - 16 && (text.charCodeAt(start - 1) === 0x5c || text.charCodeAt(start - 1) === 0x0d)) start--
  return /\\r$/.test(text.slice(start - 2, start)) ? start - 2 : start
}

function endOfLine(text: string, at: number): { end: number; next: number | undefined } {
  LINE_BREAK.lastIndex = 0
  const match = LINE_BREAK.exec(text.slice(at, at + REACH))
  if (match === null) return { end: Math.min(text.length, at + REACH), next: undefined }
  return { end: at + match.index, next: at + match.index + match[0].length }
}

interface Column extends Stretch {
  readonly index: number
  readonly kind: NameKind
}

function tellingColumns(text: string, heading: Stretch, delimiter: string, gutter: RegExp): Column[] {
  return cellsOf(text, withoutGutter(text, heading, gutter), delimiter).flatMap(({ start, end }, index) => {
    const name = text.slice(start, end)
    // `length of the secret` is no secret.
    const kind = / of /.test(name) ? undefined : kindOfName(name)
    return kind === undefined ? [] : [{ index, kind, start, end }]
  })
}

const MOST_ROWS = 64

function withoutGutter(text: string, { start, end }: Stretch, gutter: RegExp): Stretch {
  if (start === 0 && FIELD.test(text)) return { start: FIELD.exec(text)![0].length, end }
  gutter.lastIndex = start
  return { start: gutter.test(text) ? gutter.lastIndex : start, end }
}

function valuesBelow(
  text: string,
  heading: Stretch,
  from: number | undefined,
  delimiter: string,
  gutter: RegExp,
  /** Of the name that led here: the first of a heading reads all columns. */
  nameStart?: number,
): Stretch[] | undefined {
  const columns = tellingColumns(text, heading, delimiter, gutter)
  const first = columns[0]
  if (first === undefined || (nameStart !== undefined && first.end <= nameStart)) return undefined
  const found: Stretch[] = []
  // As far as a stream remembers.
  const last = heading.start + LEAD - 256
  let next = from
  for (let rows = 0; next !== undefined && next < last && rows < MOST_ROWS; rows++) {
    const row: { end: number; next: number | undefined } = endOfLine(text, next)
    const cells = cellsOf(text, withoutGutter(text, { start: next, end: row.end }, gutter), delimiter)
    if (cells.length < 2) break
    for (const { index, kind } of columns) {
      const cell = cells[index]
      if (cell === undefined) continue
      const value = text.slice(cell.start, cell.end)
      const isValue = delimiter === "|" || !/\s/.test(value)
      if (isValue && isSecret(value, kind, "quoted")) found.push(cell)
    }
    next = row.next
  }
  return found
}

/** Cells of a line, without blanks, quotes and marks around them. */
function cellsOf(text: string, { start, end }: Stretch, delimiter: string): Stretch[] {
  const cells: Stretch[] = []
  let from = start
  let quote = ""
  const isTable = delimiter === "|"
  for (let at = start; at <= end; at++) {
    const character = text.charAt(at)
    if (!isTable && character === '"' && (quote !== "" || isBlank(text, from, at)))
      quote = quote === "" ? character : ""
    if (at < end && (character !== delimiter || quote !== "" || (isTable && text.charAt(at - 1) === "\\"))) continue
    // The bar before the first cell begins it.
    if (!(isTable && from === start && at < end && isBlank(text, from, at))) cells.push(bareCell(text, from, at))
    from = at + 1
  }
  return cells
}

const isBlank = (text: string, start: number, end: number): boolean => /^[ \t\\]*$/.test(text.slice(start, end))

function bareCell(text: string, from: number, to: number): Stretch {
  let [start, end] = [from, to]
  while (start < end && " \t".includes(text.charAt(start))) start++
  while (end > start && " \t".includes(text.charAt(end - 1))) end--
  const quoted = QUOTED_CELL.exec(text.slice(start, end))
  if (quoted === null) return { start, end }
  return { start: start + quoted[1]!.length, end: end - quoted[1]!.length }
}
