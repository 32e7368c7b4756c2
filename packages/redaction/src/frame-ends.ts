export type Framing = "sse" | "lines" | "array"

/** Tells the frames of a stream apart. */
export interface Framer {
  /** Behind the end of the frame that begins at `start`, of which the bytes before `seen` were looked at before; -1 if it has not come. */
  end(buffer: Buffer, start: number, seen: number): number
}

export function framerOf(framing: Framing): Framer {
  if (framing === "array") return new ElementFramer()
  return { end: framing === "sse" ? endOfEvent : endOfLine }
}

const LF = 0x0a
const CR = 0x0d
/** A frame's end may have come in two pieces. */
const LONGEST_END = 4

/** Behind the blank line that ends an event. */
function endOfEvent(buffer: Buffer, start: number, seen: number): number {
  const from = Math.max(start, seen - LONGEST_END)
  for (let at = from; at < buffer.length; at++) {
    const byte = buffer[at]
    if (byte === CR && buffer[at + 1] === CR) return at + 2
    if (byte !== LF) continue
    const next = buffer[at + 1] === CR ? at + 2 : at + 1
    if (buffer[next] === LF) return next + 1
  }
  return -1
}

function endOfLine(buffer: Buffer, start: number, seen: number): number {
  return buffer.indexOf(LF, Math.max(start, seen)) + 1 || -1
}

/** Each element of one long JSON array, with what stands before it. */
class ElementFramer implements Framer {
  #depth = 0
  #isInString = false
  #isEscaped = false

  end(buffer: Buffer, start: number, seen: number): number {
    for (let at = Math.max(start, seen); at < buffer.length; at++) {
      const byte = buffer[at]
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (byte === BACKSLASH) this.#isEscaped = true
        else if (byte === QUOTE) this.#isInString = false
      } else if (byte === QUOTE) this.#isInString = true
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth++
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        this.#depth--
        if (this.#depth === 1) return at + 1
      }
    }
    return -1
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
