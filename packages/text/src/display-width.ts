/** How many terminal columns a text takes. Expects text that went through `safeText` or `safeLine`. */
export function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let width = 0
  for (const char of text) width += charWidth(char)
  return width
}

/** The text in at most `width` columns; what was cut ends in `…`. Characters and their marks stay whole. */
export function cutToWidth(text: string, width: number): string {
  if (text.length <= width && /^[\x20-\x7e]*$/.test(text)) return text
  let used = 0
  let kept = ""
  let keptWithEllipsis = ""
  for (const char of text) {
    used += charWidth(char)
    if (used > width) return width > 0 ? `${keptWithEllipsis}…` : ""
    kept += char
    if (used <= width - 1) keptWithEllipsis = kept
  }
  return text
}

export function padToWidth(text: string, width: number, side: "left" | "right" = "right"): string {
  const missing = width - displayWidth(text)
  if (missing <= 0) return text
  return side === "right" ? text + " ".repeat(missing) : " ".repeat(missing) + text
}

const ZERO_WIDTH = /\p{M}/u
const EMOJI = /\p{Emoji_Presentation}/u

// East Asian Wide and Fullwidth blocks (UAX #11), joined where only unassigned code points lie between them.
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1aff0, 0x1b2ff],
  [0x1f200, 0x1f2ff],
  [0x20000, 0x3fffd],
]

function charWidth(char: string): number {
  const code = char.codePointAt(0)!
  if (code < 0x300) return 1
  // The emoji selector turns a one-column sign into a two-column picture.
  if (code === 0xfe0f) return 1
  if (ZERO_WIDTH.test(char)) return 0
  if (code < 0x1100) return 1
  return WIDE.some(([first, last]) => code >= first && code <= last) || EMOJI.test(char) ? 2 : 1
}
