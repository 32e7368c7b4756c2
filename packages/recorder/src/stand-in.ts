import type { PayloadProblem } from "@orangebox/contract"
import { cutAtWord } from "./cut-at-word.js"
import { safeStringify } from "./safe-stringify.js"

/** What stands in an event for a name that the application left empty. */
const UNNAMED = "unnamed"

const LONGEST_STAND_IN = 120

/**
 * A payload whose names are none, with others in their place: no event is written that the contract refuses only for want of a name. What is
 * wrong in other ways stays as it was given, with its problem.
 */
export function withStandIns(
  payload: object,
  problems: readonly PayloadProblem[],
  judge: (payload: object) => readonly PayloadProblem[],
): {
  readonly payload: object
  readonly problems: readonly PayloadProblem[]
  readonly notes: readonly PayloadProblem[]
} {
  let mended = { payload, problems }
  const notes: PayloadProblem[] = []
  for (const { field } of problems) {
    const [, name] = /^payload\.([a-z_]+)$/.exec(field) ?? []
    if (name === undefined) continue
    const given: unknown = (payload as Record<string, unknown>)[name]
    const isNothing = given === undefined || given === null || given === ""
    const standIn = isNothing ? UNNAMED : cutAtWord(safeStringify(given), LONGEST_STAND_IN)
    const tried = { ...mended.payload, [name]: standIn }
    const left = judge(tried)
    if (left.some((problem) => problem.field === field)) continue
    mended = { payload: tried, problems: left }
    const reason = isNothing ? `was empty; "${UNNAMED}" stands for it` : "was no text; its JSON stands for it"
    notes.push({ code: "stand_in", field, reason })
  }
  return { ...mended, notes }
}

/** `entrypoint_name was empty; "unnamed" stands for it`: the same for a call and its result. */
export const standInWords = ({ field, reason }: PayloadProblem): string =>
  `${field.replace(/^payload\./, "")} ${reason}`
