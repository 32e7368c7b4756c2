import { given } from "@orangebox/contract"
import type { Shown } from "@orangebox/reader"
import type { Session } from "./session.js"

export interface ViewFlags {
  readonly budget?: number
  readonly cursor?: number
  readonly all?: boolean
  readonly markdown?: boolean
}

/** How much of a view is asked for, and how it looks where it is read. */
export function viewOptions({ terminal }: Session, { budget, cursor, all, markdown }: ViewFlags): Shown {
  const width = terminal.columns
  const looks = markdown ? { format: "markdown" as const, width } : { color: terminal.paint, width }
  return given({ budget, cursor, all, ...looks })
}
