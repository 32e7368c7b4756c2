import type { RunDiff } from "../generated.js"
import { observed } from "./chance.js"
import { type ChangedFiles, changedFiles } from "./changed-files.js"
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
  const files = compareFiles(a, b, readers)
  const fields: Outcome["fields"] = []
  if (a.outcome.status !== b.outcome.status) fields.push("status")
  if (errorKey(a, readers.a) !== errorKey(b, readers.b)) fields.push("error")
  if (a.outcome.exitCode !== b.outcome.exitCode) fields.push("exit")
  if (isOtherOutput(givenA, givenB, readers)) fields.push("output")
  if (files && files.differing.length > 0) fields.push("files")
  const outcome = { differs: fields.length > 0, fields, a: sideOf(a, givenA), b: sideOf(b, givenB), files }
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

function compareFiles(a: DiffRun, b: DiffRun, readers: Readers): Outcome["files"] {
  const filesA = a.looks && changedFiles(a.looks, readers.a)
  const filesB = b.looks && changedFiles(b.looks, readers.b)
  if (!filesA || !filesB) return null
  const differing = differingFiles(filesA, filesB)
  return { differing: differing.slice(0, MOST_FILES), more: Math.max(0, differing.length - MOST_FILES) }
}

function differingFiles(a: ChangedFiles, b: ChangedFiles): NonNullable<Outcome["files"]>["differing"] {
  const paths = [...new Set([...a.keys(), ...b.keys()])].sort()
  return paths
    .map((path) => ({ path, a: a.get(path) ?? null, b: b.get(path) ?? null }))
    .filter((file) => file.a !== file.b)
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
