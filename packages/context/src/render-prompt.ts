import type { StepAwarenessBundle } from "./bundle.js"
import { itemsOf, piecesOf } from "./sections.js"

/** The prompt of a bundle: the same bytes for the same context, whatever the time, the run or the process. */
export function renderPromptFromBundle(bundle: StepAwarenessBundle): string {
  return piecesOf(itemsOf(bundle.context)).join("")
}
