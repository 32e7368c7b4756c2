/** A text made plainer for the rules, which knows for each of its characters where it stood. */
export interface View {
  readonly text: string
  /** The stretch of the text as it was that a stretch of this one stands for. What was left out at its ends stays outside. */
  original(start: number, end: number): Stretch
}

export interface Stretch {
  readonly start: number
  readonly end: number
}

/** What becomes of one match: which part of it goes, and what comes in its place, one character or none. */
export interface Replacement extends Stretch {
  readonly by: string
}

/** A text with every match replaced; undefined where there is none, which is what most texts are. */
export function viewWithout(
  text: string,
  pattern: RegExp,
  replacement: (match: RegExpExecArray) => Replacement | undefined,
): View | undefined {
  const parts: string[] = []
  // Behind each replacement: how far the view has come, and how far the text.
  const inView: number[] = []
  const inText: number[] = []
  let at = 0
  let length = 0
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const replaced = replacement(match)
    if (replaced === undefined || replaced.start < at) continue
    parts.push(text.slice(at, replaced.start), replaced.by)
    length += replaced.start - at + replaced.by.length
    at = replaced.end
    inView.push(length)
    inText.push(at)
  }
  if (inView.length === 0) return undefined
  parts.push(text.slice(at))

  const placeOf = (index: number): { at: number; isReplaced: boolean; end: number } => {
    // The last replacement that was done with before this character; the next one may have put it there.
    const before = lastAtMost(inView, index)
    const from = before < 0 ? 0 : inText[before]! - inView[before]!
    const next = before + 1
    const isReplaced = next < inView.length && inView[next] === index + 1 && placedBy(next)
    return { at: index + from, isReplaced, end: isReplaced ? inText[next]! : index + from + 1 }
  }
  // Whether this replacement put a character: the view grew by more than the text before it.
  const placedBy = (i: number): boolean => parts[2 * i + 1] !== ""
  return {
    text: parts.join(""),
    original: (start, end) =>
      end <= start
        ? { start: placeOf(start).at, end: placeOf(start).at }
        : { start: placeOf(start).at, end: placeOf(end - 1).end },
  }
}

/** A view of a stretch of a text, as one of the whole. */
export function viewFrom(start: number, view: View): View {
  return {
    text: view.text,
    original(viewStart, viewEnd) {
      const inside = view.original(viewStart, viewEnd)
      return { start: start + inside.start, end: start + inside.end }
    },
  }
}

/** A view of a view. */
export function viewThrough(outer: View | undefined, inner: View): View {
  if (outer === undefined) return inner
  return {
    text: inner.text,
    original(start, end) {
      const between = inner.original(start, end)
      return outer.original(between.start, between.end)
    },
  }
}

function lastAtMost(sorted: readonly number[], value: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! <= value) low = middle + 1
    else high = middle
  }
  return low - 1
}
