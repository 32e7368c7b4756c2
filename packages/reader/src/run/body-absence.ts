import type { Absence } from "@orangebox/store"

/** Why the bytes of a body are not here, in a word and a sentence. */
export interface AbsenceWords {
  readonly word: string
  readonly reason: string
}

/** What the event that names a body says of it, where it was never kept; else what became of it in the store. */
export function absenceOf(recorded: string | undefined, { absent, reason }: Absence): AbsenceWords {
  const said = recorded === undefined ? undefined : RECORDED.get(recorded)
  if (said !== undefined && absent === "unknown") return { word: recorded!.replace("_", " "), reason: said }
  return { word: absent.replace("_", " "), reason }
}

const RECORDED: ReadonlyMap<string, string> = new Map([
  ["hashed", "Its run was recorded with hashes only; the bytes were never written"],
  ["not_kept", "Its run keeps bodies only where something goes wrong; the bytes were not written"],
  ["lost", "It was lost before it was stored"],
  ["pruned", "Retention removed it"],
  ["redacted_later", "It was redacted after it was recorded"],
])
