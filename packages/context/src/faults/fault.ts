import { type PayloadOf, summarizeText } from "@orangebox/contract"

/** A fault as a value: the payload of the recorder's `fault` event without the artifacts, which only the recorder can store. */
export interface ContextFault {
  readonly trigger: PayloadOf<"fault">["trigger"]
  readonly detail: string
  /** What could not be resolved. */
  readonly missing: readonly string[]
}

export function contextFault(
  trigger: ContextFault["trigger"],
  detail: string,
  missing: readonly string[] = [],
): ContextFault {
  return { trigger, detail: summarizeText(detail), missing }
}
