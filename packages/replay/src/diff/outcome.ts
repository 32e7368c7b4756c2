import type { RunDiff } from "../generated.js"
import type { Readers } from "./judge.js"
import type { DiffRun } from "./read-steps.js"
import type { StepReader } from "./step-reader.js"
import { cut } from "./text-diff.js"

type Outcome = RunDiff["outcome"]

const MAX_TEXT = 400

/** How the two runs ended. What they gave is the output they declared, or else the last thing their model said. */
export function compareOutcomes(a: DiffRun, b: DiffRun, readers: Readers): Outcome {
  const givenA = givenBy(a, readers.a)
  const givenB = givenBy(b, readers.b)
  const fields: Outcome["fields"] = []
  if (a.outcome.status !== b.outcome.status) fields.push("status")
  if (a.outcome.errorClass !== b.outcome.errorClass) fields.push("error")
  if (isOtherOutput(givenA, givenB, readers)) fields.push("output")
  return {
    differs: fields.length > 0,
    fields,
    a: sideOf(a, givenA),
    b: sideOf(b, givenB),
  }
}

interface Given {
  /** `declared` by the run, or its `last_answer`; `unknown` for a run that did not get to its end. */
  readonly as: "declared" | "last_answer" | "unknown"
  readonly key: string
  readonly ref: string | undefined
  readonly text: string | undefined
}

/** Like is compared with like: an output that was declared and a last answer are both texts, and nothing else they have in common. */
function isOtherOutput(a: Given, b: Given, readers: Readers): boolean {
  if (a.as === "unknown" || b.as === "unknown") return false
  if (a.as === b.as) return a.key !== b.key
  if (a.text === undefined || b.text === undefined) return false
  return readers.a.masked(a.text.trim()) !== readers.b.masked(b.text.trim())
}

function givenBy(run: DiffRun, reader: StepReader): Given {
  const { outputRef: ref, summary } = run.outcome
  if (ref !== undefined) {
    const text = reader.text(ref)
    return { as: "declared", key: text === undefined ? ref : reader.masked(text), ref, text: text ?? summary }
  }
  const last = run.steps.findLast((step) => step.kind === "model" && !step.isAuxiliary && step.outputRef !== undefined)
  if (!ENDED.has(run.outcome.status)) return { as: "unknown", key: "", ref: undefined, text: undefined }
  if (!last) return { as: "last_answer", key: "", ref: undefined, text: summary }
  return { as: "last_answer", key: reader.looseOutput(last), ref: last.outputRef, text: reader.outputText(last) }
}

const ENDED: ReadonlySet<string> = new Set(["completed", "failed"])

function sideOf(run: DiffRun, given: Given): Outcome["a"] {
  return {
    status: run.outcome.status,
    error_class: run.outcome.errorClass ?? null,
    text: given.text === undefined ? null : cut(given.text, MAX_TEXT),
    output_ref: given.ref ?? null,
  }
}
