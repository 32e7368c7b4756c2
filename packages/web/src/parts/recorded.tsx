import { visibleLine, visibleText } from "../model/visible-text.js"

/** No row is wide enough for more, and a name of five megabytes must not become five megabytes of page for every row. */
const LONGEST_LINE = 400

/** Recorded text within a line. Always a text node; what cannot be seen is a mark. */
export function Line({ text, find }: { text: string; find?: string | undefined }) {
  const cut = text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}…` : text
  return <span class="rec">{marked(visibleLine(cut), find)}</span>
}

/** Recorded text as it was laid out. */
export function Block({ text, find }: { text: string; find?: string | undefined }) {
  return <span class="rec">{marked(visibleText(text), find)}</span>
}

function marked(parts: ReturnType<typeof visibleText>, find: string | undefined) {
  return parts.map(({ text, isMark }, at) => (isMark ? <mark key={at}>{text}</mark> : find ? found(text, find) : text))
}

function found(text: string, find: string) {
  const lower = text.toLowerCase()
  const wanted = find.toLowerCase()
  const parts: (string | preact.JSX.Element)[] = []
  let from = 0
  // Lower case may be longer than the text (İ); then places do not fit, and nothing is marked rather than the wrong letters.
  for (let at = lower.length === text.length ? lower.indexOf(wanted) : -1; at !== -1 && parts.length < 400; ) {
    parts.push(text.slice(from, at), <mark class="found">{text.slice(at, at + wanted.length)}</mark>)
    from = at + wanted.length
    at = lower.indexOf(wanted, from)
  }
  return [...parts, text.slice(from)]
}
