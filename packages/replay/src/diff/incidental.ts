import type { FoldedResponse } from "@orangebox/dialects"
import { decided, madeUpIn, observed } from "./chance.js"
import type { DiffStep } from "./diff-step.js"
import { hasOutput, isInSync, isSameDecision, type Judged, type Readers } from "./judge.js"
import type { StepReader } from "./step-reader.js"

/** Longer texts are not looked through: they count as different. */
const LONGEST_READ = 262_144

/** Finds the pairs that differ only in wording, ids and times. */
export function markIncidental(items: readonly Judged[], readers: Readers, isOtherEnd: boolean): void {
  // What a model did not decide alike is not done alike, whatever its arguments look like.
  const decidedOtherwise = new Set<string | undefined>()
  for (const item of items) {
    const step = (item.a ?? item.b)!
    const isAskedOtherwise = step.kind === "tool" && decidedOtherwise.has(step.lane) && item.fields.includes("input")
    item.isIncidental = item.fields.length > 0 && !isAskedOtherwise && isIncidental(item, readers)
    if (step.kind !== "model") continue
    if (isInSync(item)) decidedOtherwise.delete(step.lane)
    else decidedOtherwise.add(step.lane)
  }
  for (const item of figuresOfNoUse(items, readers, isOtherEnd)) item.isIncidental = true
}

/** After so many calls that are the same, another figure in a result has led to nothing by itself. */
const SAME_AFTER = 2
const MOST_FIGURES = 100
const MOST_CALLS = 200

/**
 * Results of equal calls that differ in nothing but figures (a counter, a port, a size), after which both runs did the same, and of which no
 * later call that differs has any in its arguments.
 */
function figuresOfNoUse(items: readonly Judged[], readers: Readers, isOtherEnd: boolean): Judged[] {
  const figures = new Map<number, readonly [ReadonlySet<string>, ReadonlySet<string>]>()
  items.forEach((item, index) => {
    const found = figures.size < MOST_FIGURES ? figuresApart(item, readers) : undefined
    if (found) figures.set(index, found)
  })
  return [...figures].flatMap(([index, [ofA, ofB]]) => {
    const item = items[index]!
    item.isFigureUsed = isUsed(items, index, "a", ofA, readers) || isUsed(items, index, "b", ofB, readers)
    return !item.isFigureUsed && doSameAfter(items, index, (at) => figures.has(at), isOtherEnd) ? [item] : []
  })
}

const WORD_OF_FIGURES = /[\p{L}\p{N}_]*\p{N}[\p{L}\p{N}_]*/gu

/** The figures that only one of two results has, where nothing else differs. */
function figuresApart(item: Judged, readers: Readers): readonly [ReadonlySet<string>, ReadonlySet<string>] | undefined {
  const { a, b, fields, place } = item
  if (a?.kind !== "tool" || !b || place === "moved" || item.isIncidental || !fields.includes("output")) return undefined
  if (a.name !== b.name || a.status !== b.status || a.outputFacts !== b.outputFacts) return undefined
  if (!isSameInput(a, b, readers, fields)) return undefined
  const [textA, textB] = [readers.a.text(a.outputRef), readers.b.text(b.outputRef)]
  if (textA === undefined || textB === undefined || Math.max(textA.length, textB.length) > LONGEST_READ)
    return undefined
  if (textA.replace(WORD_OF_FIGURES, "#") !== textB.replace(WORD_OF_FIGURES, "#")) return undefined
  const [ofA, ofB] = [new Set(textA.match(WORD_OF_FIGURES)), new Set(textB.match(WORD_OF_FIGURES))]
  return [without(ofA, ofB), without(ofB, ofA)]
}

const without = (values: ReadonlySet<string>, others: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...values].filter((value) => !others.has(value)))

/** Where less than that is left of the runs, they have to end alike as well. */
function doSameAfter(
  items: readonly Judged[],
  index: number,
  isFigure: (at: number) => boolean,
  isOtherEnd: boolean,
): boolean {
  let same = 0
  for (let at = index + 1; at < items.length && same < SAME_AFTER; at++) {
    const item = items[at]!
    const { kind } = (item.a ?? item.b)!
    if (kind !== "model" && kind !== "tool" && kind !== "retrieval") continue
    if (!isInSync(item) && !isFigure(at)) return false
    if (kind !== "model") same++
  }
  return same === SAME_AFTER || !isOtherEnd
}

function isUsed(
  items: readonly Judged[],
  index: number,
  side: "a" | "b",
  figures: ReadonlySet<string>,
  readers: Readers,
): boolean {
  return items.slice(index + 1, index + 1 + MOST_CALLS).some((item) => {
    const step = item[side]
    if (step?.kind !== "tool" || isInSync(item)) return false
    const text = readers[side].text(step.inputRef) ?? step.inputSummary
    return text === undefined || (text.match(WORD_OF_FIGURES) ?? []).some((value) => figures.has(value))
  })
}

/**
 * For a model that is every answer that decides the same; for anything else, asked and answered the same but for what is other in every
 * run.
 */
function isIncidental({ a, b, place, fields }: Judged, readers: Readers): boolean {
  if (!a || !b || place === "moved") return false
  if (a.status !== b.status && a.kind !== "run") return false
  if (a.kind === "model") return isSameDecision(a, b, readers) || isSameButForIds(a, b, readers)
  if (a.name !== b.name || a.outputFacts !== b.outputFacts) return false
  return isSameInput(a, b, readers, fields) && (!fields.includes("output") || isSameOutput(a, b, readers))
}

/**
 * An id that the other run knew as well was chosen among those there were, and that is a decision; one that it never saw was made up on the
 * way.
 */
function isSameButForIds(a: DiffStep, b: DiffStep, readers: Readers): boolean {
  const [answerA, answerB] = [readers.a.answer(a), readers.b.answer(b)]
  if (!answerA || !answerB || answerA.finishReason !== answerB.finishReason) return false
  if (answerA.toolCalls.length !== answerB.toolCalls.length) return false
  const isAlike = answerA.toolCalls.every((call, at) => {
    const other = answerB.toolCalls[at]!
    return call.name === other.name && decided(call.arguments) === decided(other.arguments)
  })
  return isAlike && !knows(readers.a, a, answerA, answerB) && !knows(readers.b, b, answerB, answerA)
}

const argumentsOf = ({ toolCalls }: FoldedResponse): string => toolCalls.map((call) => call.arguments).join("\n")

function knows(reader: StepReader, step: DiffStep, own: FoldedResponse, other: FoldedResponse): boolean {
  const mine = madeUpIn(argumentsOf(own))
  const theirs = [...madeUpIn(argumentsOf(other))].filter((value) => !mine.has(value))
  if (theirs.length === 0) return false
  const request = reader.text(step.inputRef)
  return request === undefined || theirs.some((value) => request.includes(value))
}

function isSameInput(a: DiffStep, b: DiffStep, readers: Readers, fields: Judged["fields"]): boolean {
  if (!fields.includes("input")) return true
  const without = a.kind === "tool" ? decided : observed
  if (without(a.inputFacts) !== without(b.inputFacts)) return false
  return isSameText(a.inputRef, b.inputRef, readers, without)
}

const isSameOutput = (a: DiffStep, b: DiffStep, readers: Readers): boolean =>
  hasOutput(a) && hasOutput(b) && isSameText(a.outputRef, b.outputRef, readers, observed)

function isSameText(
  refA: string | undefined,
  refB: string | undefined,
  readers: Readers,
  without: (text: string) => string,
): boolean {
  if (refA === refB) return true
  const [a, b] = [readers.a.text(refA), readers.b.text(refB)]
  if (a === undefined || b === undefined || Math.max(a.length, b.length) > LONGEST_READ) return false
  return without(a) === without(b)
}
