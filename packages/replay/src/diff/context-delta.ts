import { canonicalJsonNode, type JsonNode } from "@orangebox/contract"
import { NONSEMANTIC, type PromptPart, type RequestAnatomy, readRequest } from "@orangebox/dialects"
import { commonSubsequence, escapePointer, Interner } from "@orangebox/text"
import type { DiffStep } from "./diff-step.js"
import { jsonOps, newOps, type Ops } from "./json-ops.js"
import { addressOfStep } from "./request-signatures.js"
import type { StepReader } from "./step-reader.js"

const MAX_PART_EDITS = 2_000

/** A pair of model calls, and the pair of calls whose conversation they go on with. */
export interface ModelPair {
  readonly a: DiffStep
  readonly b: DiffStep
}

/** Differing parts are named by side and content, so that one can be followed from call to call. */
export interface ContextDelta {
  readonly ops: Ops
  /** Told by `ops`: new here. */
  readonly fresh: readonly string[]
  /** Already there in the calls before. */
  readonly inherited: readonly string[]
  /** New, but only saying again what a model answered or a tool gave back. */
  readonly echoedAnswers: readonly string[]
  readonly echoedResults: readonly string[]
}

/**
 * What two requests differ in, without what they repeat. A request carries its whole history, so an edited message would be told again at
 * every later call: only parts that are new since the calls before are compared, the others are counted.
 *
 * Undefined when a request was not kept or is of no known dialect.
 */
export function contextDelta(
  pair: ModelPair,
  before: ModelPair | undefined,
  readers: { readonly a: StepReader; readonly b: StepReader },
): ContextDelta | undefined {
  const a = readPrompt(readers.a, pair.a)
  const b = readPrompt(readers.b, pair.b)
  if (!a || !b) return undefined
  const knownA = knownParts(before && readPrompt(readers.a, before.a))
  const knownB = knownParts(before && readPrompt(readers.b, before.b))
  const delta = {
    ops: newOps(),
    fresh: [] as string[],
    inherited: [] as string[],
    echoedAnswers: [] as string[],
    echoedResults: [] as string[],
  }
  diffSettings(a, b, knownA, knownB, delta)
  for (const [partA, partB] of differingParts(a, b)) {
    const isOld = (!partA || knownA.has(partA.text)) && (!partB || knownB.has(partB.text))
    const part = (partA ?? partB)!.part
    const name = partB ? `b ${partB.text}` : `a ${partA!.text}`
    if (isOld && before) delta.inherited.push(name)
    else if (before && isAnswer(part)) delta.echoedAnswers.push(name)
    else if (before && part.kind === "tool-result") delta.echoedResults.push(name)
    else {
      delta.fresh.push(name)
      const pointer = partB ? pointerTo(b.root, partB.part.node) : pointerTo(a.root, partA!.part.node)
      jsonOps(partA?.part.node, partB?.part.node, pointer, delta.ops)
    }
  }
  return delta
}

interface Prompt {
  readonly root: JsonNode
  readonly anatomy: RequestAnatomy
  readonly parts: readonly KnownPart[]
}

interface KnownPart {
  readonly part: PromptPart
  /** Role and content in one spelling. */
  readonly text: string
}

function readPrompt(reader: StepReader, step: DiffStep): Prompt | undefined {
  const request = reader.request(step)
  const anatomy = request && readRequest(request.dialect, request.body, addressOfStep(step).path)
  const root = request?.body.root
  if (!anatomy || !root) return undefined
  const parts = anatomy.parts.map((part, index) => ({
    part,
    text: `${part.role} ${anatomy.segments[index]!.segment.segment_hash}`,
  }))
  return { root, anatomy, parts }
}

const knownParts = (prompt: Prompt | undefined): ReadonlySet<string> => {
  const known = new Set(prompt?.parts.map(({ text }) => text))
  for (const [name, value] of settingsOf(prompt)) known.add(`setting ${name} ${value && canonicalJsonNode(value)}`)
  return known
}

const isAnswer = (part: PromptPart): boolean => part.role === "assistant"

/** Parts of either request that the other does not have in its place, side by side where they are of one kind. */
function differingParts(a: Prompt, b: Prompt): [KnownPart | undefined, KnownPart | undefined][] {
  const interner = new Interner()
  const equal = commonSubsequence(
    a.parts.map(({ text }) => interner.of(text)),
    b.parts.map(({ text }) => interner.of(text)),
    MAX_PART_EDITS,
  )
  const found: [KnownPart | undefined, KnownPart | undefined][] = []
  let i = 0
  let j = 0
  for (const [nextA, nextB] of [...(equal ?? []), [a.parts.length, b.parts.length] as const]) {
    const onlyA = a.parts.slice(i, nextA)
    const onlyB = b.parts.slice(j, nextB)
    for (const part of onlyA) {
      const other = onlyB.findIndex((candidate) => isSameSort(part.part, candidate.part))
      found.push([part, other < 0 ? undefined : onlyB.splice(other, 1)[0]])
    }
    for (const part of onlyB) found.push([undefined, part])
    i = nextA + 1
    j = nextB + 1
  }
  return found
}

/** Tools are the same tool by name; anything else by what it is and who says it. */
function isSameSort(a: PromptPart, b: PromptPart): boolean {
  if (a.kind !== b.kind || a.role !== b.role) return false
  return a.kind !== "tool-def" || a.name === b.name
}

/** Model and parameters. */
function diffSettings(
  a: Prompt,
  b: Prompt,
  knownA: ReadonlySet<string>,
  knownB: ReadonlySet<string>,
  delta: { readonly ops: Ops; readonly fresh: string[]; readonly inherited: string[] },
): void {
  const settingsA = settingsOf(a)
  const settingsB = settingsOf(b)
  for (const name of new Set([...settingsA.keys(), ...settingsB.keys()])) {
    const [valueA, valueB] = [settingsA.get(name), settingsB.get(name)]
    const [textA, textB] = [valueA && canonicalJsonNode(valueA), valueB && canonicalJsonNode(valueB)]
    if (textA === textB) continue
    const isOld = isKnown(knownA, name, textA) && isKnown(knownB, name, textB)
    const part = `b setting ${name} ${textB}`
    if (isOld && knownA.size > 0) {
      delta.inherited.push(part)
      continue
    }
    delta.fresh.push(part)
    jsonOps(valueA, valueB, `/${escapePointer(name)}`, delta.ops)
  }
}

const isKnown = (known: ReadonlySet<string>, name: string, text: string | undefined): boolean =>
  text === undefined
    ? ![...known].some((entry) => entry.startsWith(`setting ${name} `))
    : known.has(`setting ${name} ${text}`)

function settingsOf(prompt: Prompt | undefined): ReadonlyMap<string, JsonNode> {
  if (!prompt) return new Map()
  const { model, params } = prompt.anatomy
  const settings = new Map(Object.entries(params))
  if (model !== null) settings.set("model", { kind: "string", value: model, start: 0, end: 0 })
  // What moves and changes by itself; a signature does not read it either.
  for (const name of ["metadata", ...NONSEMANTIC]) settings.delete(name)
  return settings
}

/** Follows the spans of the text down to the node. */
function pointerTo(root: JsonNode, target: JsonNode): string {
  let node = root
  let pointer = ""
  while (node !== target) {
    const next = childAround(node, target)
    if (!next) return pointer
    pointer += `/${escapePointer(next.key)}`
    node = next.node
  }
  return pointer
}

function childAround(node: JsonNode, target: JsonNode): { key: string; node: JsonNode } | undefined {
  const holds = (child: JsonNode): boolean => child.start <= target.start && target.end <= child.end
  if (node.kind === "object") {
    const member = node.members.find(({ value }) => holds(value))
    return member && { key: member.key, node: member.value }
  }
  if (node.kind !== "array") return undefined
  const index = node.items.findIndex(holds)
  return index < 0 ? undefined : { key: String(index), node: node.items[index]! }
}
