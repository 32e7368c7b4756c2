const MOST = 4000
const TAIL = 800

/** A text as far as it is shown at once: all of it, or its beginning and its end. */
export function cutText(text: string): { readonly text: string; readonly tail: string | null; readonly chars: number } {
  if (text.length <= MOST) return { text: text.toWellFormed(), tail: null, chars: text.length }
  return {
    text: text.slice(0, MOST - TAIL).toWellFormed(),
    tail: text.slice(-TAIL).toWellFormed(),
    chars: text.length,
  }
}
