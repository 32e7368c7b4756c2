/** How many terminal columns a text takes. Expects text that went through `safeText` or `safeLine`. */
export function displayWidth(text: string): number {
  if (NARROW.test(text)) return text.length
  let width = 0
  for (const cluster of clustersOf(text)) width += clusterWidth(cluster)
  return width
}

/**
 * The text in at most `width` columns and `length` code units: the one way in which text is cut. The cut falls between two words, ` …`, and
 * inside of one, `wor…`, only where that is wider than all there is room for. Characters, their marks and emoji stay whole, and a quotation
 * that is cut is closed.
 *
 *     cutToWidth('asks "what is the weather like"', 22)   // asks "what is the …"
 */
export function cutToWidth(text: string, width: number, length = Number.POSITIVE_INFINITY): string {
  if (text.length <= Math.min(width, length) && NARROW.test(text)) return text
  if (headOf(text, width, length).length === text.length) return text
  const cut = cutBefore(text, "…", width, length)
  const isLeftOpen = quotesIn(cut) % 2 === 1 && quotesIn(text) % 2 === 0
  if (!isLeftOpen) return cut
  const closed = cutBefore(text, '…"', width, length)
  // Cut shorter, the quotation may have gone altogether.
  return quotesIn(closed) % 2 === 0 ? closed : closed.slice(0, -1)
}

function cutBefore(text: string, end: string, width: number, length: number): string {
  const room = width - end.length
  const head = headOf(text, room, length - end.length)
  const beforeGap = headOf(text, room - 1, length - end.length - 1).length
  const kept = wordsEnd(text, beforeGap)
  const [gap, word] = /^\s*(\S*)/.exec(text.slice(kept, kept + 2 * Math.max(width, 0) + 2))!
  const isTooWide = headOf(word!, room - 1).length < word!.length
  if (kept > 0 && !(isTooWide && head.length > kept + gap.length - word!.length))
    return `${text.slice(0, kept).replace(/[\s·]+$/, "")} ${end}`
  return room < 0 ? headOf("…", width, length) : withoutHalfEscape(head.trimEnd()) + end
}

/** A backslash without what it escapes. */
const withoutHalfEscape = (text: string): string =>
  (/\\*$/.exec(text)![0].length & 1) === 1 ? text.slice(0, -1) : text

/** Where the last word ends that is whole in the first `length` characters. */
function wordsEnd(text: string, length: number): number {
  let end = length
  while (end > 0 && !(/\s/.test(text.charAt(end)) && /\S/.test(text.charAt(end - 1)))) end--
  return end
}

/** Quotation marks that are not escaped. */
const quotesIn = (text: string): number => text.match(/\\.|"/gs)?.filter((found) => found === '"').length ?? 0

export function padToWidth(text: string, width: number, side: "left" | "right" = "right"): string {
  const missing = width - displayWidth(text)
  if (missing <= 0) return text
  return side === "right" ? text + " ".repeat(missing) : " ".repeat(missing) + text
}

/** As much of the beginning as `width` columns hold, in at most `length` code units. */
export function headOf(text: string, width: number, length = Number.POSITIVE_INFINITY): string {
  let used = 0
  let end = 0
  for (const cluster of clustersOf(text)) {
    used += clusterWidth(cluster)
    if (used > width || end + cluster.length > length) return text.slice(0, end)
    end += cluster.length
  }
  return text
}

// Latin, punctuation, arrows, operators, marks, the pictures of control characters, boxes and blocks: one column each, and never joined to a neighbour.
const NARROW =
  /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u2193\u2200-\u22ff\u2400-\u2421\u2500-\u259f\u2713\u2717]*$/
// Without one of these every character stands for itself, and segmenting, which costs some 10 µs a character, is not needed.
const JOINING = /\u200d|[\p{M}\p{Emoji_Modifier}\p{Regional_Indicator}\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7ff]/u

let segmenter: Intl.Segmenter | undefined

/** What a terminal draws in one place: a character with its marks, or an emoji with all that is joined to it. */
function clustersOf(text: string): Iterable<string> {
  if (!JOINING.test(text)) return text
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" })
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

const EMOJI = /\p{Emoji_Presentation}|\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\ufe0f|\u200d)|^[0-9#*]\ufe0f/u
const MARK = /\p{M}/u

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

function clusterWidth(cluster: string): number {
  if (cluster.length === 1 && cluster < "\u0300") return 1
  // An emoji is one picture of two columns, however many characters it is made of.
  if (EMOJI.test(cluster)) return 2
  let width = 0
  for (const char of cluster) width += charWidth(char)
  return width
}

function charWidth(char: string): number {
  const code = char.codePointAt(0)!
  if (code < 0x300) return 1
  // Vowels and finals of a Hangul syllable stand inside the columns of its first letter.
  if (MARK.test(char) || code === 0x200d || (code >= 0x1160 && code <= 0x11ff)) return 0
  if (code < 0x1100) return 1
  return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1
}
