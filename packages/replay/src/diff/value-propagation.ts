import { readJson } from "@orangebox/contract"
import { escapePointer } from "@orangebox/text"
import type { RunDiff } from "../generated.js"
import type { DiffStep } from "./diff-step.js"
import type { Judged, Readers } from "./judge.js"

/** So much of an output is looked through, and so many later calls. */
const MAX_OUTPUT = 65_536
const MAX_CALLS = 1_000
const MAX_VALUES = 2_000

/** Paths, ids, names and numbers: what a later call would take over as it is. Shorter words are everywhere. */
const VALUE = /[\p{L}\p{N}_][\p{L}\p{N}_./:@#-]{3,}[\p{L}\p{N}_]/gu

/**
 * The first later call whose arguments hold a value that only the diverged output has: neither the other run's output at that place nor
 * anything the step was asked has it. Looked for in the second run, then in the first.
 */
export function findPropagation(items: readonly Judged[], from: number | null, readers: Readers): RunDiff["carry"] {
  if (from === null) return null
  for (const side of ["b", "a"] as const) {
    const step = items[from]![side]
    const values = step && ownValues(step, items[from]![side === "a" ? "b" : "a"], side, readers)
    if (!values || values.size === 0) continue
    const found = firstUse(items, from, side, values, readers)
    if (found) return { from, side, ...found }
  }
  return null
}

function ownValues(
  step: DiffStep,
  other: DiffStep | undefined,
  side: "a" | "b",
  readers: Readers,
): ReadonlySet<string> | undefined {
  const text = readers[side].outputText(step)?.slice(0, MAX_OUTPUT)
  if (text === undefined) return undefined
  const elsewhere = [
    other && readers[side === "a" ? "b" : "a"].outputText(other),
    readers[side].text(step.inputRef) ?? step.inputSummary,
  ].join("\n")
  const values = new Set<string>()
  for (const [value] of text.matchAll(VALUE)) {
    if (values.size === MAX_VALUES) break
    if (!values.has(value) && !elsewhere.includes(value)) values.add(value)
  }
  return values
}

function firstUse(
  items: readonly Judged[],
  from: number,
  side: "a" | "b",
  values: ReadonlySet<string>,
  readers: Readers,
): { to: number; value: string; ptr: string } | undefined {
  let calls = 0
  // The calls that a model asks for in the very answer hold its words as a matter of course; what comes after its next turn carries.
  let isAsked = items[from]![side]!.kind === "model"
  for (let to = from + 1; to < items.length && calls < MAX_CALLS; to++) {
    const step = items[to]![side]
    if (step?.kind === "model") isAsked = false
    if (!step || isAsked || (step.kind !== "tool" && step.kind !== "retrieval")) continue
    calls++
    const text = readers[side].text(step.inputRef) ?? step.inputSummary
    if (text === undefined) continue
    const others = otherText(items[to]!, side, readers)
    const used = text.match(VALUE)?.find((value) => values.has(value) && !others?.includes(value))
    if (used !== undefined) return { to, value: used, ptr: pointerOf(text, used) }
  }
  return undefined
}

/** What the other run's call at the same place was asked: a value it uses as well was not carried here. */
function otherText(item: Judged, side: "a" | "b", readers: Readers): string | undefined {
  const other = side === "a" ? "b" : "a"
  return item[other] && readers[other].text(item[other].inputRef)
}

/** The first string in the arguments that holds the value. */
function pointerOf(text: string, value: string): string {
  const reading = readJson(text)
  if (!reading.ok) return ""
  const waiting = [{ node: reading.node, ptr: "" }]
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const { node, ptr } = next
    if (node.kind === "string" && node.value.includes(value)) return ptr
    if (node.kind === "object") {
      for (const { key, value: inner } of node.members)
        waiting.push({ node: inner, ptr: `${ptr}/${escapePointer(key)}` })
    } else if (node.kind === "array") {
      for (const [index, inner] of node.items.entries()) waiting.push({ node: inner, ptr: `${ptr}/${index}` })
    }
  }
  return ""
}
