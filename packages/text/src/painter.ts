/** Colours a piece of finished text. Widths and tokens are measured before it is asked. */
export type Painter = (text: string, role: PaintRole) => string
export type PaintRole = "heading" | "number" | "tree" | "time" | "bad" | "warn" | "dim"

/** For where colours would only be in the way. */
export const plain: Painter = (text) => text
