import { InputError } from "@orangebox/contract"
import { momentIn, safeJson } from "@orangebox/text"

/** A moment as a query says it. */
export const SINCE = { is: "text", about: "at or after: 2026-01-31, or how long ago: 2h, 3d" } as const
export const UNTIL = { is: "text", about: "before that" } as const

export function momentOf(name: string, text: string | undefined): number | undefined {
  const at = text === undefined ? undefined : momentIn(text, Date.now())
  if (text === undefined || at !== undefined) return at
  throw new InputError("USAGE", {
    what: `${name} is ${safeJson(text.slice(0, 80))}`,
    next: "It must be a date such as 2026-01-31, or how long ago: 2h, 3d",
  })
}
