import { answerKey, type RequestAtom } from "./atoms.js"
import { recall } from "./digest-map.js"
import type { ToolAnswered, TurnsUnseen } from "./facts.js"
import type { Spot } from "./find-spot.js"
import type { Chain } from "./locate.js"
import type { WireState } from "./state.js"

/**
 * Turns of the model behind what is known of a history that goes on. What stands right there is the rest of the answer that is followed,
 * which clients trim and mend; a few words may be the client's own; an answer of another lane was recorded there.
 */
export function turnsUnseen(
  state: WireState,
  spot: Spot,
  { atoms }: Chain,
  answered: readonly ToolAnswered[],
): readonly TurnsUnseen[] {
  if (spot.followsBy !== "messages" || spot.changes.some(({ fact }) => fact === "history_changed")) return []
  const isUnseen = (atom: RequestAtom): boolean => {
    const key = answerKey(atom)
    return key === undefined ? atom.kind === "tool-call" : recall(state.answers, key) === undefined
  }
  let turns = 0
  // Neighbouring parts of the model are one turn; it counts when one of them does.
  let isCounted = true
  for (const atom of atoms.slice(spot.known)) {
    if (!atom.isAnswer) isCounted = false
    else if (!isCounted && isUnseen(atom)) {
      isCounted = true
      turns++
    }
  }
  if (turns === 0) return []
  const toolResults = answered.filter(({ calledBy }) => calledBy === null).length
  return [{ fact: "turns_unseen", lane: spot.lane, turns, toolResults }]
}
