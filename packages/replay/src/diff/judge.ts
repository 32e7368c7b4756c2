import type { Cause, Change, Field, Tier } from "../generated.js"
import { haveSameSecrets } from "./body-masks.js"
import type { DiffStep } from "./diff-step.js"
import { distance } from "./distance.js"
import type { Features } from "./features.js"
import type { Placed } from "./lay-out.js"
import { decisionOf, type StepReader } from "./step-reader.js"

/** What is said about one line of a diff. */
export interface Judged extends Placed {
  readonly change: Change
  /** What differs, for pairs. */
  readonly fields: readonly Field[]
  /** What differs without meaning anything. */
  readonly noise: readonly Field[]
  readonly isInputSame: boolean
  readonly isOutputSame: boolean
  /** Asked otherwise, and nothing came of it. */
  readonly isAbsorbed: boolean
  /** Differs only in wording, ids and times. Found out for unrelated runs alone. */
  isIncidental: boolean
  /** A figure that only its result has stands in the arguments of a later call that differs. */
  isFigureUsed: boolean
  readonly tiers: readonly Tier[]
  /** Between the two steps of a pair, 0 to 1; 1 for a step without one. */
  readonly distance: number
  cause: Cause | undefined
}

export interface Readers {
  readonly a: StepReader
  readonly b: StepReader
}

export function judge(placed: Placed, readers: Readers, features: (placed: Placed) => [Features, Features]): Judged {
  const { a, b, place } = placed
  if (!a || !b) return judged(placed, a ? "removed" : "inserted", ALONE, tiersOfSingle(a ?? b!), 1)
  const compared = compare(a, b, readers)
  const isEqual = compared.fields.length === 0
  const change = changeOf(placed, !isEqual, compared.noise.length > 0)
  // Most steps of most diffs are the same; they are done here.
  if (isEqual && place === "kept") return judged(placed, change, compared, NO_TIERS, 0)
  const between = isEqual ? 0 : Math.min(1, distance(...features(placed)))
  return judged(placed, change, compared, tiersOfPair(placed, compared, readers), between)
}

const NO_TIERS: readonly Tier[] = []
const NO_FIELDS: readonly Field[] = []
const ALONE: Compared = { fields: NO_FIELDS, noise: NO_FIELDS, isInputSame: false, isOutputSame: false }

function judged(
  { a, b, place }: Placed,
  change: Change,
  { fields, noise, isInputSame, isOutputSame }: Compared,
  tiers: readonly Tier[],
  distance: number,
): Judged {
  // Every name once and none spread in, as in `featuresOf`.
  return {
    a,
    b,
    place,
    change,
    fields,
    noise,
    isInputSame,
    isOutputSame,
    isAbsorbed: a !== undefined && b !== undefined && !isInputSame && isOutputSame && mayAbsorb(a, b),
    isIncidental: false,
    isFigureUsed: false,
    tiers,
    distance,
    cause: undefined,
  }
}

/** An acknowledgement is short. A longer result that is the same to the byte was read from the same place. */
const TELLING_BYTES = 200

/**
 * Another write is another effect, whatever the tool said about it, and another tool is another act. Of a tool without a description, only an
 * answer that tells something shows that it did the same.
 */
function mayAbsorb(a: DiffStep, b: DiffStep): boolean {
  if (isWrite(a) || isWrite(b)) return false
  if (!mayWrite(a) && !mayWrite(b)) return true
  return a.name === b.name && (a.outputBytes ?? 0) >= TELLING_BYTES
}

/** Whether the steps of a pair do the same: equal, or different without anything having come of it. */
export const isInSync = ({ a, b, change, isAbsorbed, isIncidental }: Judged): boolean =>
  a !== undefined && b !== undefined && change !== "moved" && (change !== "changed" || isAbsorbed || isIncidental)

/** A moved step stays moved whatever else differs; one that only changed its turn says what differs instead. */
function changeOf(placed: Placed, differs: boolean, isNoisy: boolean): Change {
  if (placed.place === "moved") return "moved"
  if (differs) return "changed"
  if (placed.place === "reordered") return "reordered"
  return isNoisy ? "noise" : "same"
}

type Compared = Pick<Judged, "fields" | "noise" | "isInputSame" | "isOutputSame">

function compare(a: DiffStep, b: DiffStep, readers: Readers): Compared {
  const fields: Field[] = []
  const noise: Field[] = []
  const isNameSame = a.name === b.name
  if (!isNameSame) fields.push("name")
  const replayed = replayOf(a, b)
  let isInputSame = isExactInput(a, b)
  if (isInputSame) {
    if (a.wire !== undefined && b.wire !== undefined && a.wire !== b.wire) noise.push("wire")
  } else {
    isInputSame =
      readers.a.looseInput(a) === readers.b.looseInput(b) ||
      isSameButForClient(a, b, readers) ||
      isSameButForServedMasks(a, b)
    ;(isInputSame ? noise : fields).push("input")
  }
  // A call's question tells its secrets apart by itself.
  if (isInputSame && a.sig === undefined && !haveSameSecrets(a.inputMasks, b.inputMasks)) {
    isInputSame = false
    fields.push("input")
  }
  // What a step without an end would have given is not known; that it has none is its status.
  const isOutputKnown = hasOutput(a) && hasOutput(b)
  // What is served from a recording has the masks of its secrets, and no secrets any more.
  const isServed = replayed !== undefined && isAnsweredAlike(a, b, readers)
  let isOutputSame = !isOutputKnown || isServed || (a.outputRef === b.outputRef && a.outputFacts === b.outputFacts)
  if (!isOutputSame) {
    isOutputSame = readers.a.looseOutput(a) === readers.b.looseOutput(b)
    ;(isOutputSame ? noise : fields).push("output")
  }
  if (isOutputSame && !haveSameSecrets(a.outputMasks, b.outputMasks)) {
    isOutputSame = false
    fields.push("output")
  }
  // How a run ended is its outcome, told apart.
  const isStatusSame = a.status === b.status || a.kind === "run"
  if (!isStatusSame) fields.push("status")
  if (a.attempts !== b.attempts) noise.push("attempts")
  // Another model that answers the same question is what the provider did; any other name is what was asked for.
  const isAskedName = !isNameSame && !(a.kind === "model" && isInputSame)
  return {
    fields,
    noise,
    isInputSame: isInputSame && !isAskedName,
    isOutputSame: isOutputSame && isStatusSame && (isNameSame || isAskedName),
  }
}

/** A replay matched them under the masks of their client; then they are compared under those again. */
function isSameButForClient(a: DiffStep, b: DiffStep, readers: Readers): boolean {
  if (a.kind !== "model" || !(a.isMatchedMasked || b.isMatchedMasked)) return false
  const asked = readers.a.withoutClientNoise(a)
  return asked !== undefined && asked === readers.b.withoutClientNoise(b)
}

/** The secret that was in the recorded question came back from us as its mask, and a replay found them equal but for that. */
function isSameButForServedMasks(a: DiffStep, b: DiffStep): boolean {
  const replay = replayOf(a, b)
  const source = replay === a ? b : a
  return replay?.isMatchedMasked === true && source.inputMasks.length > 0
}

/** Whichever of two calls was answered exactly as the other one was. */
function replayOf(a: DiffStep, b: DiffStep): DiffStep | undefined {
  const isOf = (replay: DiffStep, source: DiffStep): boolean =>
    replay.mode === "exact" && replay.sourceStepId !== undefined && replay.sourceStepId === source.id
  return isOf(b, a) ? b : isOf(a, b) ? a : undefined
}

/** An error that is thrown again has another stack, and no causes any more. */
function isAnsweredAlike(a: DiffStep, b: DiffStep, readers: Readers): boolean {
  if (a.outputRef === undefined || b.outputRef === undefined) return false
  if (a.outputRef === b.outputRef) return true
  const thrown = readers.a.thrown(a)
  return thrown !== undefined && thrown === readers.b.thrown(b)
}

export const hasOutput = ({ closedAt, outputRef, kind }: DiffStep): boolean =>
  kind === "run" || outputRef !== undefined || Number.isFinite(closedAt)

export const isSameQuestion = (a: DiffStep, b: DiffStep, readers: Readers): boolean =>
  isExactInput(a, b) || readers.a.looseInput(a) === readers.b.looseInput(b)

function isExactInput(a: DiffStep, b: DiffStep): boolean {
  if (a.inputFacts !== b.inputFacts) return false
  if (a.sig !== undefined && b.sig !== undefined) return a.sig === b.sig && a.canonVersion === b.canonVersion
  return a.sig === b.sig && a.inputRef === b.inputRef
}

export const isWrite = (step: DiffStep | undefined): boolean =>
  step?.effect === "write" || step?.effect === "write_idempotent"

/** A tool without a description may have written. */
export const mayWrite = (step: DiffStep | undefined): boolean =>
  step?.kind === "tool" && (step.effect === undefined || step.effect === "unknown")

function tiersOfSingle(step: DiffStep): Tier[] {
  switch (step.kind) {
    case "input":
    case "verdict":
    case "run":
      return ["T2"]
    case "artifact":
      return isWrite(step) ? ["T3"] : ["T2"]
    default:
      return isWrite(step) ? ["T1", "T3"] : ["T1"]
  }
}

function tiersOfPair(placed: Placed, compared: Compared, readers: Readers): Tier[] {
  const a = placed.a!
  const b = placed.b!
  const tiers = new Set<Tier>()
  const writes = isWrite(a) || isWrite(b)
  switch (a.kind) {
    case "model":
      if (!compared.isOutputSame) tiers.add(isSameDecision(a, b, readers) ? "T0" : "T1")
      break
    case "artifact":
      if (!compared.isOutputSame) tiers.add(writes ? "T3" : "T2")
      break
    case "run":
    case "input":
    case "verdict":
      if (!compared.isInputSame || !compared.isOutputSame) tiers.add("T2")
      break
    default:
      if (!compared.isInputSame) {
        tiers.add("T1")
        if (writes) tiers.add("T3")
      }
      if (!compared.isOutputSame && compared.isInputSame) tiers.add("T2")
  }
  if (placed.place === "moved") {
    tiers.add("T1")
    if (writes) tiers.add("T3")
  }
  return [...tiers].sort()
}

/** Whether two answers differ only in what they say, not in what they do. By the names of the calls where the answers were not kept. */
export function isSameDecision(a: DiffStep, b: DiffStep, readers: Readers): boolean {
  if (a.status !== b.status) return false
  const answerA = readers.a.answer(a)
  const answerB = readers.b.answer(b)
  if (answerA && answerB) return readers.a.masked(decisionOf(answerA)) === readers.b.masked(decisionOf(answerB))
  return a.finishReason === b.finishReason && a.requestedTools.join("\n") === b.requestedTools.join("\n")
}
