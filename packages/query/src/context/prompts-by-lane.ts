import type { Event } from "@orangebox/contract"
import type { RunView } from "../run-view.js"
import { previousContext, recordedContexts } from "./recorded-contexts.js"

/**
 * Puts beside every prompt the one that its call goes on from. While a run is read, the prompt before is the last one of its recorded lane;
 * an application's own steps do not say a lane, and whose line a call belongs to is known only when all calls are.
 */
export function setPromptsBefore(view: RunView): void {
  if (!hasUntoldLanes(view)) return
  const contexts = recordedContexts(view)
  for (const context of contexts) {
    const { step } = context
    const attempts = step.children.map((n) => view.steps[n - 1]!).filter(({ attemptNo }) => attemptNo !== undefined)
    const own = new Set([step, ...attempts].map(({ id }) => id))
    for (const { notes } of [step, ...attempts]) {
      for (const note of notes) {
        // Between what was built for a call and what it sent, the comparison stays inside the call.
        if (note.kind !== "prompt" || (note.before && own.has(note.before.step_id ?? undefined))) continue
        const previous = previousContext(contexts, context)
        note.before = isInferred(note.event) ? previous?.derived : previous?.told
      }
    }
  }
}

const isInferred = (event: Event | undefined): boolean => event?.inferred_by !== undefined

/** Whether calls without a lane of their own were made below more than one step. */
function hasUntoldLanes({ steps }: RunView): boolean {
  const parents = new Set<number | undefined>()
  for (const { kind, attemptNo, opened, parent } of steps) {
    if (kind === "model" && attemptNo === undefined && opened?.lane_id === undefined) parents.add(parent)
    if (parents.size > 1) return true
  }
  return false
}
