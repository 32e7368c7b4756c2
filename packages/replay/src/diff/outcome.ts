import type { BodyMask } from "@orangebox/contract"
import type { RunDiff } from "../generated.js"
import { areSameTags, haveSameSecrets } from "./body-masks.js"
import { observed } from "./chance.js"
import { compareFiles } from "./changed-files.js"
import type { Readers } from "./judge.js"
import type { DiffRun } from "./read-steps.js"
import type { StepReader } from "./step-reader.js"
import { cut } from "./text-diff.js"

type Outcome = RunDiff["outcome"]

const MAX_TEXT = 400
const MOST_FILES = 100

/**
 * How the two runs ended and what they left: exit and error, the output they declared or else the last thing their model said, and the
 * files of their work trees.
 */
export function compareOutcomes(a: DiffRun, b: DiffRun, readers: Readers): ComparedOutcomes {
  const givenA = givenBy(a, readers.a)
  const givenB = givenBy(b, readers.b)
  const files = filesOf(a, b, readers)
  const fields: Outcome["fields"] = []
  if (a.outcome.status !== b.outcome.status) fields.push("status")
  const isSameError =
    errorKey(a, readers.a) === errorKey(b, readers.b) && areSameTags(a.outcome.errorTags, b.outcome.errorTags)
  if (!isSameError) fields.push("error")
  if (a.outcome.exitCode !== b.outcome.exitCode) fields.push("exit")
  if (isOtherOutput(givenA, givenB, readers)) fields.push("output")
  if (files.compared && files.compared.differing.length > 0) fields.push("files")
  const outcome = {
    differs: fields.length > 0,
    fields,
    a: sideOf(a, givenA),
    b: sideOf(b, givenB),
    files: files.compared,
    files_not_compared: files.why,
  }
  const isOtherEnd = fields.some((field) => field !== "output" || isOtherThing(givenA, givenB))
  return { outcome, isOtherEnd }
}

interface ComparedOutcomes {
  readonly outcome: Outcome
  /** Whether the runs ended otherwise, and not only in other words, ids and times. */
  readonly isOtherEnd: boolean
}

/** A run that declares its output says what it gives; the last answer of a model is how it says it. */
function isOtherThing(a: Given, b: Given): boolean {
  if (a.as !== "declared" || b.as !== "declared") return false
  return a.text === undefined || b.text === undefined || observed(a.text) !== observed(b.text)
}

const errorKey = ({ outcome }: DiffRun, reader: StepReader): string =>
  `${outcome.errorClass ?? ""} ${reader.masked(outcome.error ?? "")}`

interface Files {
  readonly compared: Outcome["files"]
  readonly why: Outcome["files_not_compared"]
}

function filesOf(a: DiffRun, b: DiffRun, readers: Readers): Files {
  const found = compareFiles({ ...a, reader: readers.a }, { ...b, reader: readers.b })
  if (!found.areCompared) return { compared: null, why: found.why }
  const { differing } = found
  return {
    compared: { differing: differing.slice(0, MOST_FILES), more: Math.max(0, differing.length - MOST_FILES) },
    why: null,
  }
}

interface Given {
  /** `declared` by the run, or its `last_answer`; `unknown` for a run that did not get to its end. */
  readonly as: "declared" | "last_answer" | "unknown"
  readonly key: string
  readonly masks: readonly BodyMask[]
  readonly ref: string | undefined
  readonly text: string | undefined
}

/** Like is compared with like: an output that was declared and a last answer are both texts, and nothing else they have in common. */
function isOtherOutput(a: Given, b: Given, readers: Readers): boolean {
  if (a.as === "unknown" || b.as === "unknown") return false
  if (a.as === b.as) return a.key !== b.key || !haveSameSecrets(a.masks, b.masks)
  if (a.text === undefined || b.text === undefined) return false
  return readers.a.masked(a.text.trim()) !== readers.b.masked(b.text.trim())
}

function givenBy(run: DiffRun, reader: StepReader): Given {
  const { outputRef: ref, outputMasks: masks, summary } = run.outcome
  if (ref !== undefined) {
    const text = reader.text(ref)
    return { as: "declared", key: text === undefined ? ref : reader.masked(text), masks, ref, text: text ?? summary }
  }
  const last = run.steps.findLast((step) => step.kind === "model" && !step.isAuxiliary && step.outputRef !== undefined)
  if (!ENDED.has(run.outcome.status)) return { as: "unknown", key: "", masks: [], ref: undefined, text: undefined }
  if (!last) return { as: "last_answer", key: "", masks: [], ref: undefined, text: summary }
  const key = reader.looseOutput(last)
  return { as: "last_answer", key, masks: [], ref: last.outputRef, text: reader.outputText(last) }
}

const ENDED: ReadonlySet<string> = new Set(["completed", "failed"])

function sideOf({ outcome }: DiffRun, given: Given): Outcome["a"] {
  return {
    status: outcome.status,
    error_class: outcome.errorClass ?? null,
    error: outcome.error === undefined ? null : cut(outcome.error, MAX_TEXT),
    exit_code: outcome.exitCode ?? null,
    text: given.text === undefined ? null : cut(given.text, MAX_TEXT),
    output_ref: given.ref ?? null,
  }
}
