import { plural, recordedWord } from "@orangebox/text"
import type { Fold } from "./skeleton-plan.js"

/** `7 steps (3 model, 4 tool), all ok`: what is hidden, and whether anything in it went wrong. */
export function foldWords(fold: Fold): string {
  const parts: string[] = []
  if (fold.steps > 0) {
    const kinds = [fold.models > 0 ? `${fold.models} model` : "", fold.tools > 0 ? `${fold.tools} tool` : ""]
    const named = kinds.filter((kind) => kind !== "").join(", ")
    parts.push(plural(fold.steps, "step") + (named === "" ? "" : ` (${named})`))
  }
  if (fold.notes > 0) parts.push(plural(fold.notes, "note"))
  const wrong: string[] = []
  if (fold.failed > 0) wrong.push(`${fold.failed} failed`)
  if (fold.open > 0) wrong.push(`${fold.open} open`)
  if (fold.warnings > 0) wrong.push(plural(fold.warnings, "warning"))
  if (wrong.length > 0) parts.push(wrong.join(", "))
  else if (fold.steps > 0) parts.push(fold.steps === 1 ? "ok" : "all ok")
  const modes = Object.entries(fold.modes).map(([mode, count]) => `[${count} ${recordedWord(mode, 20)}]`)
  if (fold.inferred > 0) modes.push(`[${fold.inferred} ≈]`)
  return [parts.join(", "), ...modes].join(" ")
}
