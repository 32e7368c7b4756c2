import { safeLine, safeText } from "@orangebox/text"

export interface TextPart {
  readonly text: string
  /** Stands for a character that cannot be seen, or would change how the rest is read. */
  readonly isMark: boolean
}

const MARK = /([\u2400-\u2421]|\\u\{[0-9a-f]+\})/

/** Recorded text as it may be shown: what cannot be seen or reorders what is read is told apart as a mark. */
export const visibleText = (text: string): TextPart[] => partsOf(safeText(text), text)

/** The same for one line, in which line breaks are marks as well. */
export const visibleLine = (text: string): TextPart[] => partsOf(safeLine(text), text)

/** Recorded words within a sentence of ours, a name or a drawing, where no mark can be told apart: safe, and not long. */
export const safeWords = (text: string, most = 200): string =>
  safeLine(text.length > most ? `${text.slice(0, most)}…` : text)

function partsOf(safe: string, recorded: string): TextPart[] {
  if (safe === recorded) return safe === "" ? [] : [{ text: safe, isMark: false }]
  return safe
    .split(MARK)
    .map((text, at) => ({ text, isMark: at % 2 === 1 }))
    .filter(({ text }) => text !== "")
}

/** The two ends of a long text, cut between lines where one is near, and how many characters are between them. */
export function endsOf(text: string, most = 4000): { head: string; left: number; tail: string } | null {
  if (text.length <= most) return null
  const headEnd = nearLine(text, Math.floor(most * 0.7), -1)
  const tailStart = nearLine(text, text.length - Math.floor(most * 0.3), 1)
  return { head: text.slice(0, headEnd), left: tailStart - headEnd, tail: text.slice(tailStart) }
}

/** The end of a line within 200 characters, else a place that does not tear a character apart. */
function nearLine(text: string, at: number, towards: 1 | -1): number {
  for (let step = 0; step < 200; step += 1) {
    const place = at + step * towards
    if (text[place - 1] === "\n") return place
  }
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at + towards : at
}
