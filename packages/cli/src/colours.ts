import type { Painter, PaintRole } from "@orangebox/text"

const CODES: Readonly<Record<PaintRole, readonly [number, number]>> = {
  heading: [1, 22],
  number: [36, 39],
  tree: [90, 39],
  time: [90, 39],
  bad: [31, 39],
  warn: [33, 39],
  dim: [90, 39],
}

/** Colour is for eyes: only on a terminal that can show it, and never with NO_COLOR. */
export function painterFor(
  isTerminal: boolean,
  env: Readonly<Record<string, string | undefined>>,
): Painter | undefined {
  if (!isTerminal || env["TERM"] === "dumb" || (env["NO_COLOR"] !== undefined && env["NO_COLOR"] !== ""))
    return undefined
  return (text, role) => {
    const [on, off] = CODES[role]
    return text === "" ? "" : `\u001b[${on}m${text}\u001b[${off}m`
  }
}
