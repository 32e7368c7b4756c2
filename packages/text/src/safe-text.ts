/**
 * Recorded text is hostile: it may hold escape codes that move the cursor, set the clipboard or the window title, bidi controls that
 * reorder what is read, and invisible characters that carry words only a model sees. Everything of that sort is shown, never sent.
 *
 * Control characters become their picture (ESC is `␛`), everything else its code point (`\u{202e}`). Nothing is removed, so that a
 * reader sees *that* there was something. The form is for eyes, not for parsing: text that holds a literal `␛` looks the same.
 */
export function safeText(text: string): string {
  return isPlain(text) ? text : escapeWith(text, KEPT_IN_BLOCKS)
}

/** The same for one line: line breaks and tabs are shown as well, so that recorded text cannot begin a line of its own. */
export function safeLine(text: string): string {
  return isPlainLine(text) ? text : escapeWith(text, KEPT_IN_LINES)
}

/**
 * JSON that is safe to print. `JSON.stringify` escapes only what JSON forbids; bidi controls, C1 codes and invisible characters go through
 * it raw. Inside JSON they can be written as escapes without loss, so a program reads exactly what was recorded.
 */
export function safeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(HOSTILE_IN_JSON, (char) => {
    let escaped = ""
    for (let i = 0; i < char.length; i++) escaped += `\\u${char.charCodeAt(i).toString(16).padStart(4, "0")}`
    return escaped
  })
}

// Default_Ignorable_Code_Point holds the zero-width characters, the tag characters, all variation selectors and the Hangul fillers.
const UNSAFE =
  "\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\p{Bidi_Control}\\p{Noncharacter_Code_Point}"
const HOSTILE = new RegExp(`[${UNSAFE}]`, "u")
// Line breaks are JSON's own: inside strings they are already escaped.
const HOSTILE_IN_JSON = new RegExp(`(?!\\n)[${UNSAFE}]`, "gu")
const MARK = /\p{M}/u
const KEPT_IN_BLOCKS = new Set(["\n", "\t"])
const KEPT_IN_LINES: ReadonlySet<string> = new Set()

/** A base character keeps this many combining marks; a tower of them would paint over the lines above. */
const MAX_MARKS = 4

const isPlain = (text: string): boolean => /^[\x20-\x7e\n\t]*$/.test(text)
const isPlainLine = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

function escapeWith(text: string, kept: ReadonlySet<string>): string {
  let safe = ""
  let marks = 0
  let followsBase = false
  for (const char of text) {
    if (kept.has(char)) {
      safe += char
      followsBase = false
      continue
    }
    // ⚠️ and ❤️ are a sign and one selector. A second selector is not typography but a way to hide bytes.
    if ((char === "\ufe0f" || char === "\ufe0e") && followsBase) {
      safe += char
      followsBase = false
      continue
    }
    if (HOSTILE.test(char)) {
      safe += shown(char)
      followsBase = false
      continue
    }
    if (MARK.test(char)) {
      marks += 1
      safe += marks > MAX_MARKS ? shown(char) : char
      followsBase = false
      continue
    }
    marks = 0
    safe += char
    followsBase = char > "\x7f"
  }
  return safe
}

function shown(char: string): string {
  const code = char.codePointAt(0)!
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  if (code === 0x7f) return "\u2421"
  return `\\u{${code.toString(16)}}`
}
