import { type JsonNode, readJson } from "@orangebox/contract"
import { looksBinary } from "@orangebox/dialects"
import type { PayloadDiff } from "../generated.js"
import { contextDelta } from "./context-delta.js"
import type { DiffStep } from "./diff-step.js"
import { jsonOps, newOps, put, textOp } from "./json-ops.js"
import type { Judged, Readers } from "./judge.js"
import { answerText, decode, type StepReader } from "./step-reader.js"

/** Where each differing part of a context was first seen: an edited message is shown there, and later calls only name the place. */
export type Origins = Map<string, number>

/**
 * What the bodies of a differing pair differ in. To be asked in the order of the items.
 *
 * @param index the pair's place in `items`
 */
export function payloadDiffs(
  items: readonly Judged[],
  index: number,
  readers: Readers,
  origins: Origins,
): PayloadDiff[] {
  const { a, b, fields } = items[index]!
  if (!a || !b) return []
  const diffs: PayloadDiff[] = []
  if (fields.includes("input")) diffs.push(inputDiff(items, index, readers, origins))
  if (fields.includes("output")) diffs.push(outputDiff(a, b, readers))
  return diffs
}

/** Has everything fetched that `payloadDiffs` is going to read for these items: nothing is compared twice because a body was late. */
export function awaitPayloads(items: readonly Judged[], chosen: readonly number[], readers: Readers): void {
  const awaitInputs = (index: number): void => {
    readers.a.await(items[index]!.a?.inputRef)
    readers.b.await(items[index]!.b?.inputRef)
  }
  for (const index of chosen) {
    const { a, b, fields } = items[index]!
    if (!a || !b) continue
    if (fields.includes("input")) {
      awaitInputs(index)
      const before = a.kind === "model" ? callBefore(items, index) : undefined
      if (before !== undefined) awaitInputs(before)
    }
    if (fields.includes("output")) {
      readers.a.await(a.outputRef)
      readers.b.await(b.outputRef)
    }
  }
}

function inputDiff(items: readonly Judged[], index: number, readers: Readers, origins: Origins): PayloadDiff {
  const a = items[index]!.a!
  const b = items[index]!.b!
  const context = a.kind === "model" ? contextDiff(items, index, readers, origins) : undefined
  if (context) return context
  if (
    a.inputRef === undefined &&
    b.inputRef === undefined &&
    a.inputSummary !== undefined &&
    b.inputSummary !== undefined
  ) {
    return { ...EMPTY, what: "input", form: "text", ops: [textOp(a.inputSummary, b.inputSummary, "")] }
  }
  return bodiesDiff("input", a.inputRef, b.inputRef, readers)
}

function contextDiff(
  items: readonly Judged[],
  index: number,
  readers: Readers,
  origins: Origins,
): PayloadDiff | undefined {
  const before = callBefore(items, index)
  const pairAt = (place: number) => ({ a: items[place]!.a!, b: items[place]!.b! })
  const delta = contextDelta(pairAt(index), before === undefined ? undefined : pairAt(before), readers)
  if (!delta) return undefined
  const inherits = new Map<number, number>()
  const inherit = (part: string, origin: number | undefined): void => {
    const from = origins.get(part) ?? origin
    if (from === undefined) return
    origins.set(part, from)
    inherits.set(from, (inherits.get(from) ?? 0) + 1)
  }
  for (const part of delta.fresh) origins.set(part, index)
  for (const part of delta.inherited) inherit(part, before)
  for (const part of delta.echoedAnswers) inherit(part, before)
  for (const part of delta.echoedResults) inherit(part, resultBefore(items, index, before ?? -1) ?? before)
  return {
    what: "input",
    form: "context",
    ops: delta.ops.ops,
    more: delta.ops.more,
    inherits: [...inherits].map(([item, parts]) => ({ item, parts })).sort((x, y) => x.item - y.item),
    absent: null,
  }
}

/** The nearest earlier pair of model calls of the same lanes: the conversation that these two go on with. */
function callBefore(items: readonly Judged[], index: number): number | undefined {
  const { a, b } = items[index]!
  for (let i = index - 1; i >= 0; i--) {
    const item = items[i]!
    if (item.a?.kind !== "model" || !item.b || item.a.isAuxiliary) continue
    if (item.a.lane === a!.lane && item.b.lane === b!.lane) return i
  }
  return undefined
}

/** The first differing result between two calls: what the later one says again. */
function resultBefore(items: readonly Judged[], index: number, from: number): number | undefined {
  for (let i = from + 1; i < index; i++) {
    const { a, b, isOutputSame } = items[i]!
    if ((a ?? b)!.kind === "tool" && !isOutputSame) return i
  }
  return undefined
}

function outputDiff(a: DiffStep, b: DiffStep, readers: Readers): PayloadDiff {
  const [answerA, answerB] = [readers.a.answer(a), readers.b.answer(b)]
  if (answerA && answerB) {
    return jsonDiff("output", nodeOf(answerText(answerA))!, nodeOf(answerText(answerB))!)
  }
  return bodiesDiff("output", a.outputRef, b.outputRef, readers)
}

const EMPTY = { more: 0, inherits: [], absent: null }

function bodiesDiff(
  what: PayloadDiff["what"],
  refA: string | undefined,
  refB: string | undefined,
  readers: Readers,
): PayloadDiff {
  const [a, b] = [bytesOf(readers.a, refA), bytesOf(readers.b, refB)]
  if (!(a instanceof Uint8Array) || !(b instanceof Uint8Array)) {
    const why = (bytes: Uint8Array | string): string | null => (typeof bytes === "string" ? bytes : null)
    return { ...EMPTY, what, form: "absent", ops: [], absent: { a: why(a), b: why(b) } }
  }
  const [textA, textB] = [decode(a), decode(b)]
  if (looksBinary(textA) || looksBinary(textB)) {
    const op = { op: "change" as const, ptr: "", a: `${a.length} bytes`, b: `${b.length} bytes`, text: null }
    return { ...EMPTY, what, form: "bytes", ops: [op] }
  }
  const [nodeA, nodeB] = [nodeOf(textA), nodeOf(textB)]
  if (nodeA && nodeB) return jsonDiff(what, nodeA, nodeB)
  return { ...EMPTY, what, form: "text", ops: [textOp(textA, textB, "")] }
}

/** The bytes, or why they are not there; a step without a body has an empty one. */
function bytesOf(reader: StepReader, ref: string | undefined): Uint8Array | string {
  if (ref === undefined) return new Uint8Array(0)
  const found = reader.body(ref)
  return found instanceof Uint8Array ? found : found.absent
}

function jsonDiff(what: PayloadDiff["what"], a: JsonNode, b: JsonNode): PayloadDiff {
  const ops = newOps()
  if (a.kind === "string" && b.kind === "string") put(ops, textOp(a.value, b.value, ""))
  else jsonOps(a, b, "", ops)
  return { ...EMPTY, what, form: "json", ops: ops.ops, more: ops.more }
}

function nodeOf(text: string): JsonNode | undefined {
  if (!/^\s*[[{"]/.test(text)) return undefined
  const reading = readJson(text)
  return reading.ok ? reading.node : undefined
}
