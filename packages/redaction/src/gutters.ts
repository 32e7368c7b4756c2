import { NORMALISE } from "./rules/rules.generated.js"
import { type View, viewFrom, viewWithout } from "./view.js"

const { gutter, lineBreak } = NORMALISE

const MOST_GUTTERS = 3
/** One gutter, and as many as there are: what looks like a second one may be the line itself. */
const GUTTERS = [1, MOST_GUTTERS].map(
  (most) => new RegExp(`(${lineBreak})((?:[ \\t]{0,12}(?:${gutter.join("|")})){1,${most}})`, "g"),
)
const LINE_GUTTER = new RegExp(`[ \\t]{0,12}(?:${gutter.join("|")})`, "y")
const LINE_BREAK = new RegExp(lineBreak, "y")
export const GUTTER_PATTERNS: readonly RegExp[] = [...GUTTERS, LINE_GUTTER, LINE_BREAK]

/** From so far before the keyword of a rule that reaches over lines to so far behind it: a name, and a private key with its gutters. */
const LEAD = 128
const REACH = 20_000

/**
 * The stretches of a text in which lines matter, with the gutter of every line gone. What is found there depends on the stretch alone, so that
 * a stream, which does not see the whole at once, finds the same.
 *
 * @param places where keywords of rules that reach over lines stand, in order
 */
export function* withoutGutters(text: string, places: readonly number[]): Generator<View> {
  let end = 0
  for (const place of places) {
    if (place + REACH / 2 <= end || end === text.length) continue
    const start = Math.max(0, place - LEAD)
    end = Math.min(text.length, place + REACH)
    let length = end - start
    for (const pattern of GUTTERS) {
      const view = viewWithout(text.slice(start, end), pattern, (match) => {
        const from = match.index + match[1]!.length
        return { start: from, end: from + match[2]!.length, by: "" }
      })
      if (view === undefined || view.text.length === length) break
      length = view.text.length
      yield viewFrom(start, view)
    }
  }
}

/** Where a line goes on behind its gutter, which may be none. */
export function endOfGutter(text: string, lineStart: number): number {
  return endsOfGutters(text, lineStart).at(-1)!
}

/** The same behind no gutter, one, two or three: what looks like one may be the line itself. */
export function endsOfGutters(text: string, lineStart: number): number[] {
  const ends = [lineStart]
  for (let gutters = 0; gutters < MOST_GUTTERS; gutters++) {
    LINE_GUTTER.lastIndex = ends[gutters]!
    if (!LINE_GUTTER.test(text)) break
    ends.push(LINE_GUTTER.lastIndex)
  }
  return ends
}

/** Where the next line goes on behind its gutter, of so many parts at most; undefined where no line ends here. */
export function nextLine(text: string, at: number, most = MOST_GUTTERS): number | undefined {
  LINE_BREAK.lastIndex = at
  return LINE_BREAK.test(text)
    ? endsOfGutters(text, LINE_BREAK.lastIndex)
        .slice(0, most + 1)
        .at(-1)
    : undefined
}
