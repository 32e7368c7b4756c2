/**
 * Recorded text is hostile: it may hold escape codes that move the cursor, set the clipboard or the window title, bidi controls that
 * reorder what is read, and invisible characters that carry words only a model sees. Everything of that sort is shown, never sent.
 *
 * Control characters become their picture (ESC is `␛`), everything else its code point (`\u{202e}`). Nothing is removed, so that a
 * reader sees *that* there was something. The form is for eyes, not for parsing: text that holds a literal `␛` looks the same.
 * What is safe stays as it is, so making text safe twice is making it safe once.
 *
 *     safeText("\x1b[31mred ⚠️")   // ␛[31mred ⚠️
 */
export function safeText(text: string): string {
  return /^[\x20-\x7e\n\t]*$/.test(text) ? text : text.replace(HOSTILE_IN_BLOCKS, shownUnlessEmoji)
}

/** The same for one line: line breaks and tabs are shown as well, so that recorded text cannot begin a line of its own. */
export function safeLine(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : text.replace(HOSTILE_IN_LINES, shownUnlessEmoji)
}

/** Safe text for a page, between tags and in quoted attributes. */
export function safeHtml(text: string): string {
  return safeText(text).replace(/[&<>"']/g, (char) => ENTITIES[char]!)
}

/** A safe line of Markdown: nothing in it is a heading, a link, a tag or the end of a table's cell. */
export function safeMarkdown(text: string): string {
  return safeLine(text)
    .replace(/[\\`*_{}[\]<>()#+!|~&@:]/g, (char) => MARKDOWN_ENTITIES[char] ?? `\\${char}`)
    .replace(/(www)\./gi, "$1&#46;")
}

/**
 * Safe text as a Markdown code block that nothing inside can close: recorded text must not become headings, links or images.
 * Only a line that begins with a fence can close one, so only those decide how long ours must be.
 */
export function fenced(text: string, language = "text"): string {
  let longest = 2
  for (const [, run] of text.matchAll(/^ {0,3}(`+)/gm)) longest = Math.max(longest, run!.length)
  const fence = "`".repeat(longest + 1)
  return `${fence}${language}\n${safeText(text)}\n${fence}`
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
  "[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\p{Bidi_Control}\\p{Noncharacter_Code_Point}]"
// A base character keeps four combining marks; a tower of them would paint over the lines above.
const TOWER = "(?<=\\p{M}{4})\\p{M}"
// Inside an emoji a selector and a joiner are typography: ⚠️, 1️⃣, 👩‍👩‍👧. A second selector or a longer chain is a way to hide bytes.
const PICTURE = "\\p{Extended_Pictographic}(?:[\\ufe0e\\ufe0f]|\\p{Emoji_Modifier})?"
const EMOJI = `[0-9#*]\\ufe0f\\u20e3|${PICTURE}(?:\\u200d${PICTURE}){0,3}`
const HOSTILE_IN_BLOCKS = new RegExp(`${EMOJI}|${TOWER}|(?![\\n\\t])${UNSAFE}`, "gu")
const HOSTILE_IN_LINES = new RegExp(`${EMOJI}|${TOWER}|${UNSAFE}`, "gu")
// Line breaks are JSON's own: inside strings they are already escaped.
const HOSTILE_IN_JSON = new RegExp(`(?!\\n)${UNSAFE}`, "gu")
const IS_EMOJI = new RegExp(`^(?:${EMOJI})$`, "u")

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}
// A colon, an at sign or the dot behind www makes links of bare addresses, and no backslash hinders that.
const MARKDOWN_ENTITIES: Readonly<Record<string, string>> = {
  "<": "&lt;",
  ">": "&gt;",
  "&": "&amp;",
  "@": "&#64;",
  ":": "&#58;",
}

function shownUnlessEmoji(found: string): string {
  if (IS_EMOJI.test(found)) return found
  const code = found.codePointAt(0)!
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  if (code === 0x7f) return "\u2421"
  return `\\u{${code.toString(16)}}`
}
