/**
 * Recorded text is hostile: escape codes move the cursor of a terminal, bidi controls reorder what is read, invisible characters carry words
 * only a model sees. All of these are shown, never sent: control characters as their picture (ESC is `␛`), everything else as its code point.
 */
export function safeText(text: string): string {
  return PLAIN_BLOCK.test(text) ? text : shownWhere(text, BLOCK_HOSTILE)
}

/** The same for one line: line breaks and tabs are shown as well, so that recorded text cannot begin a line of its own. */
export function safeLine(text: string): string {
  return PLAIN_LINE.test(text) ? text : shownWhere(text, LINE_HOSTILE)
}

const PLAIN_BLOCK = /^[\x20-\x7e\n\t]*$/
const PLAIN_LINE = /^[\x20-\x7e]*$/
const HOSTILE =
  "\\p{Cf}\\p{Cs}\\p{Co}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\p{Bidi_Control}\\p{Noncharacter_Code_Point}"
const BLOCK_HOSTILE = new RegExp(`(?![\\n\\t])[\\p{Cc}${HOSTILE}]`, "gu")
const LINE_HOSTILE = new RegExp(`[\\p{Cc}${HOSTILE}]`, "gu")
/** A letter keeps four combining marks; a tower of them would paint over the lines above. */
const TOWER = /(\p{M}{4})(\p{M}+)/gu

const shownWhere = (text: string, hostile: RegExp): string =>
  text.replace(hostile, shown).replace(TOWER, (_, kept: string, more: string) => kept + [...more].map(shown).join(""))

function shown(char: string): string {
  const code = char.codePointAt(0)!
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  if (code === 0x7f) return "\u2421"
  return `\\u{${code.toString(16)}}`
}

/** Safe, on one line, and no longer than asked; says how much is left out. */
export function shortLine(text: string, longest: number): string {
  const head = text
    .slice(0, longest * 2)
    .replace(/\s+/g, " ")
    .trim()
  const isCut = head.length > longest || text.length > longest * 2
  const kept = isCut ? head.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, "") : head
  return isCut ? `${safeLine(kept)}…` : safeLine(kept)
}

/** Safe lines of a block: overlong lines and overlong blocks are cut, and the cut says how much is gone. */
export function shortBlock(text: string, most: { readonly lines: number; readonly columns: number }): string[] {
  const lines = text.split("\n")
  if (lines.at(-1) === "") lines.pop()
  const shownLines = lines.slice(0, most.lines).map((line) => {
    const kept = line.slice(0, most.columns).replace(/[\ud800-\udbff]$/, "")
    const rest = line.length - kept.length
    return rest > 0 ? `${safeText(kept)} … ${rest} more characters` : safeText(line)
  })
  const rest = lines.length - shownLines.length
  return rest > 0 ? [...shownLines, `… ${rest} more ${rest === 1 ? "line" : "lines"}`] : shownLines
}
