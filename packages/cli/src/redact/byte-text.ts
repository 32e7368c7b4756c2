import { isUtf8 } from "node:buffer"

/**
 * Bytes as text and back without loss. What is UTF-8 is read as such; every other byte becomes a lone surrogate (0xDC80 to 0xDCFF), which
 * valid UTF-8 never holds, and is written back as the byte it was. So the rules can look at text with anything in between.
 */
export class ByteTextDecoder {
  /** The beginning of a character whose rest has not come yet. */
  #held: Uint8Array = NOTHING
  /** Bytes that belong to no character. */
  strayBytes = 0

  push(bytes: Uint8Array): string {
    const all = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes])
    const end = all.length - unfinishedLength(all)
    this.#held = all.slice(end)
    return this.#decode(all.subarray(0, end))
  }

  finish(): string {
    const rest = this.#held
    this.#held = NOTHING
    return this.#decode(rest)
  }

  #decode(bytes: Uint8Array): string {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (isUtf8(buffer)) return buffer.toString("utf8")
    let text = ""
    let from = 0
    for (let at = 0; at < buffer.length; ) {
      const length = characterLength(buffer, at)
      if (length > 0) {
        at += length
        continue
      }
      text += `${buffer.toString("utf8", from, at)}${String.fromCharCode(0xdc00 + buffer[at]!)}`
      this.strayBytes++
      at++
      from = at
    }
    return text + buffer.toString("utf8", from)
  }
}

const NOTHING = new Uint8Array(0)

export function encodeByteText(text: string): Uint8Array {
  if (text.isWellFormed()) return Buffer.from(text, "utf8")
  const parts: Uint8Array[] = []
  let from = 0
  for (const { index, 0: strays } of text.matchAll(STRAYS)) {
    parts.push(Buffer.from(text.slice(from, index), "utf8"))
    parts.push(Uint8Array.from(strays, (stray) => stray.charCodeAt(0) - 0xdc00))
    from = index + strays.length
  }
  parts.push(Buffer.from(text.slice(from), "utf8"))
  return Buffer.concat(parts)
}

/** How many bytes the text stands for. */
export function byteLengthOf(text: string): number {
  return text.isWellFormed() ? Buffer.byteLength(text) : encodeByteText(text).length
}

const STRAYS = /(?<![\ud800-\udbff])[\udc80-\udcff]+/g

/** How many bytes at the end may be the beginning of a character. */
function unfinishedLength(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!
    if (byte < 0x80) return 0
    if (byte >= 0xc2) return byte <= 0xf4 && lengthByLead(byte) > back ? back : 0
  }
  return 0
}

const lengthByLead = (byte: number): number => (byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4)

/** The length of the character that begins here; 0 where none does. */
function characterLength(bytes: Buffer, at: number): number {
  const lead = bytes[at]!
  if (lead < 0x80) return 1
  if (lead < 0xc2 || lead > 0xf4) return 0
  const length = lengthByLead(lead)
  return at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)) ? length : 0
}
