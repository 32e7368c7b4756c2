import type { StepView } from "../../run-view.js"
import type { CaseFile } from "../case-file.js"
import { at, type Detected } from "../finding.js"

/** The process that wrote the run is gone, and left a step open. */
export function crash({ view }: CaseFile): Detected {
  if (view.crash === undefined || view.status !== "crashed") return []
  const n = view.crash.step ?? 1
  const step = view.steps[n - 1]!
  const { endedBy, pid, errorClass, doubt } = view.crash
  const partial = step.partials.map(
    ({ role, byteSize, withheldBytes = 0 }) => `${byteSize + withheldBytes} bytes of its ${role} had come`,
  )
  const how =
    endedBy === undefined || endedBy === "gone" ? "its process was gone without a word" : endedBy.replaceAll("_", " ")
  const thrown = throwerOf(view)
  const words = [
    ...(thrown === undefined ? [] : [`the error of #${thrown.n} was caught by nobody`]),
    `the run stood in #${n} when it ended: ${how}`,
    ...(errorClass === undefined ? [] : ["an error is on record"]),
    ...partial,
    ...(doubt === undefined ? [] : [`or it ended and ${doubt}`]),
  ]
  return [
    {
      detector: "crash",
      kind: endedBy ?? null,
      severity: "fatal",
      confidence: doubt === undefined ? "proven" : "possible",
      cause: thrown?.n ?? n,
      fails: n,
      claim: `${words.join("; ")}${pid === undefined ? "" : ` (process ${pid})`}`,
      by: null,
      evidence: [
        ...(thrown === undefined ? [] : [at(thrown)]),
        at(step),
        ...step.partials.map(({ role }) => at(step, role)),
      ],
    },
  ]
}

/** The step whose error ended the process: the last that failed with the very words the process ended with. */
function throwerOf({ crash, steps }: CaseFile["view"]): StepView | undefined {
  if (crash?.errorClass === undefined) return undefined
  return steps.findLast(
    ({ n, error, children }) =>
      n > 1 &&
      error !== undefined &&
      error.errorClass === crash.errorClass &&
      error.line === crash.errorSummary &&
      !children.some((child) => steps[child - 1]?.error?.line === error.line),
  )
}
