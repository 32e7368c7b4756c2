import { recordedText, recordedWord } from "@orangebox/text"
import { stepWords } from "./format-skeleton.js"
import type { RunView, StepView } from "./run-view.js"

/** The words of steps as the skeleton says them, apart: what went wrong first, so that no cut hides it. All of it is safe to show. */
export function stepWordsJson(view: RunView, from: number, to: number) {
  return view.steps.slice(from - 1, to).map((step) => {
    const { label, time, verdict, tone } = stepWords(step, false)
    const isTrouble = tone !== "plain"
    return {
      n: step.n,
      label,
      time,
      tone,
      trouble: isTrouble && verdict !== "" ? verdict : null,
      words: [subjectOf(step), isTrouble ? "" : verdict].filter((part) => part !== "").join("  "),
      notes: step.notes.filter(({ weight }) => weight !== "plain").length,
    }
  })
}

const WIDTH = 160

function subjectOf({ kind, runInput, tool }: StepView): string {
  if (kind === "run" && runInput !== undefined) return recordedText(runInput, WIDTH)
  return tool?.args ? recordedWord(tool.args, WIDTH) : ""
}
