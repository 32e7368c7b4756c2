import { isUtf8 } from "node:buffer"
import { isDigit } from "./text-edges.js"
import type { View } from "./view.js"

const SHORTEST_RUN = 24
const SHORTEST_LINE = 60
const MOST_LINES = 4096

/**
 * Every run of base64 in a text that decodes to text, as a view of what it says. Pictures and signatures end at their first bytes. Lines of a
 * wrapped run are put together.
 */
export function* encodedTexts(text: string): Generator<View & { readonly isOpen: boolean }> {
  let done = 0
  for (let at = SHORTEST_RUN - 1; at < text.length; at = done + SHORTEST_RUN) {
    // Every run has a character at each 24th place: looking there and nowhere else finds all of them.
    if (!isEncoded(text.charCodeAt(at))) {
      done = at
      continue
    }
    let start = at
    while (start > done && isEncoded(text.charCodeAt(start - 1))) start--
    const end = endOfRun(text, at)
    done = end
    const begin = end - start < SHORTEST_RUN ? undefined : beginningOfText(text, start, end)
    if (begin === undefined) continue
    const lines = linesFrom(text, begin, end)
    done = lines.at(-1)!.end
    yield { ...viewOf(text, lines), isOpen: done >= text.length - 2 }
  }
}

const MOST_SLASHES = 8

/** Where in a run the text begins: with it, or behind a slash, which is also what parts an address. */
function beginningOfText(text: string, start: number, end: number): number | undefined {
  let at = start
  for (let slashes = 0; slashes <= MOST_SLASHES && end - at >= SHORTEST_RUN; slashes++) {
    if (beginsText(text, at)) return at
    const slash = text.indexOf("/", at)
    if (slash < 0 || slash >= end) return undefined
    at = slash + 1
  }
  return undefined
}

interface Line {
  readonly start: number
  readonly end: number
}

const LINE_BREAK = /(?:\r?\n|\\{1,8}(?:r\\{1,8})?n)[ \t]{0,16}/y

function linesFrom(text: string, start: number, end: number): Line[] {
  const lines: Line[] = [{ start, end }]
  for (let last = lines[0]!; lines.length < MOST_LINES; ) {
    const length = last.end - last.start
    if (length < SHORTEST_LINE || length % 4 !== 0) break
    LINE_BREAK.lastIndex = last.end
    if (!LINE_BREAK.test(text)) break
    const next = LINE_BREAK.lastIndex
    const nextEnd = endOfRun(text, next)
    if (nextEnd === next || nextEnd - next > length) break
    last = { start: next, end: nextEnd }
    lines.push(last)
  }
  return lines
}

/** Three bytes are four characters: what a byte stands for is the four it came from. */
function viewOf(text: string, lines: readonly Line[]): View {
  const encoded =
    lines.length === 1
      ? text.slice(lines[0]!.start, lines[0]!.end)
      : lines.map((line) => text.slice(line.start, line.end)).join("")
  const placeOf = (character: number): number => {
    let before = 0
    for (const { start, end } of lines) {
      if (character < before + end - start) return start + character - before
      before += end - start
    }
    return lines.at(-1)!.end
  }
  return {
    text: Buffer.from(encoded, "base64").toString("latin1"),
    original(start, end) {
      const first = Math.floor(start / 3) * 4
      const last = Math.min(encoded.length, Math.ceil(end / 3) * 4)
      return { start: placeOf(first), end: end <= start ? placeOf(first) : placeOf(last - 1) + 1 }
    },
  }
}

/** Whether what begins here decodes to text. The first character alone rules out half of all. */
function beginsText(text: string, start: number): boolean {
  const code = text.charCodeAt(start)
  const isLatin = (code >= 0x49 && code <= 0x5a) || (code >= 0x61 && code <= 0x66) || code === 0x43 || code === 0x2f
  // The first byte of a letter beyond ASCII.
  const isOther = (code >= 0x77 && code <= 0x7a) || isDigit(code)
  if (!isLatin && !isOther) return false
  if (!mayBeText(sextetAt(text, start + 1), sextetAt(text, start + 2), sextetAt(text, start + 3))) return false
  const bytes = Buffer.from(text.slice(start, start + SHORTEST_RUN), "base64")
  return isWide(bytes) || isPlainText(bytes)
}

/** Two bytes a letter, the second of which is zero. */
function isWide(bytes: Buffer): boolean {
  let zeros = 0
  for (let i = 1; i < bytes.length; i += 2) if (bytes[i] === 0) zeros++
  return zeros * 2 >= bytes.length - 4 && bytes[0] !== 0
}

function isPlainText(bytes: Buffer): boolean {
  let letters = 0
  let isAscii = true
  for (const byte of bytes) {
    if (byte >= 0x7f) isAscii = false
    else if (byte < 0x20 && byte !== 0 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return false
    if (byte > 0x20) letters++
  }
  // The last letter may be cut.
  return (
    letters * 6 >= bytes.length &&
    (isAscii || [0, 1, 2, 3].some((cut) => isUtf8(bytes.subarray(0, bytes.length - cut))))
  )
}

/** Whether the second and third byte of the first three are no part of a picture: without the cost of decoding. */
function mayBeText(second: number, third: number, fourth: number): boolean {
  return isText(((second & 15) << 4) | (third >> 2)) && isText(((third & 3) << 6) | fourth)
}

const isText = (byte: number): boolean => byte >= 0x20 || byte === 0 || (byte >= 0x09 && byte <= 0x0d)

const sextetAt = (text: string, at: number): number => SEXTETS[text.charCodeAt(at) & 0x7f]!

function endOfRun(text: string, from: number): number {
  let end = from
  while (isEncoded(text.charCodeAt(end))) end++
  for (let signs = 0; signs < 2 && text.charCodeAt(end) === 0x3d; signs++) end++
  return end
}

const ENCODED = new Uint8Array(128)
const SEXTETS = new Uint8Array(128)
for (const [i, character] of [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"].entries()) {
  ENCODED[character.charCodeAt(0)] = 1
  // The signs of the form for addresses come last and mean what `+` and `/` do.
  SEXTETS[character.charCodeAt(0)] = i < 64 ? i : i - 2
}
const isEncoded = (code: number): boolean => code < 128 && ENCODED[code] === 1
