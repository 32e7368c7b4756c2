/**
 * A name in a row's text that is ours: `[absent, own]`, the fields an event did not have where their columns would give them back
 * (events of schema 1.0 have no id and no clock), and the event's own field of this name, should it have one.
 */
export const ROW_NOTE = "-"

/** An event's text that is too long for a row is a body. Its row holds the body's hash as its note, which is otherwise a list. */
const SPILLED = `{"${ROW_NOTE}":"`

export function spillMark(hash: string): string {
  return `${SPILLED}${hash}"}`
}

/** The body a row's text was moved to, if it was. */
export function spilledHash(text: string): string | undefined {
  return text.startsWith(SPILLED) ? text.slice(SPILLED.length, -2) : undefined
}
