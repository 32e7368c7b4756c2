import { canonicalJsonNode, type JsonNode, readJson } from "@orangebox/contract"
import { jsonDifference } from "@orangebox/text"
import type { PayloadOp } from "../generated.js"
import { cut, diffTexts } from "./text-diff.js"

/** Operations listed; the rest is counted. */
const MAX_OPS = 40
const MAX_VALUE = 240
/** Strings longer than this are shown by what differs in them. */
const LONG_TEXT = 80

export interface Ops {
  readonly ops: PayloadOp[]
  /** Operations that are not listed. */
  more: number
}

export const newOps = (): Ops => ({ ops: [], more: 0 })

/** What leads from one JSON value to another, as it is published. The order of items that have names is no difference between runs. */
export function jsonOps(a: JsonNode | undefined, b: JsonNode | undefined, ptr: string, into: Ops): void {
  for (const { kind, pointer, before, after } of jsonDifference(a, b, ptr)) {
    if (kind === "moved") continue
    if (kind !== "changed") {
      put(into, { op: OPS[kind], ptr: pointer, a: shown(before), b: shown(after), text: null })
      continue
    }
    // Tool arguments are JSON inside JSON; pointers go on inside it.
    const [innerA, innerB] = [nested(before), nested(after)]
    if (innerA && innerB) jsonOps(innerA, innerB, pointer, into)
    else put(into, changeOf(before!, after!, pointer))
  }
}

const OPS = { added: "add", removed: "remove" } as const

function nested(node: JsonNode | undefined): JsonNode | undefined {
  if (node?.kind !== "string" || !/^\s*[[{]/.test(node.value)) return undefined
  const reading = readJson(node.value)
  return reading.ok ? reading.node : undefined
}

export function textOp(a: string, b: string, ptr: string): PayloadOp {
  const isShort = a.length <= LONG_TEXT && b.length <= LONG_TEXT && !/\n/.test(a + b)
  return { op: "change", ptr, a: cut(a, MAX_VALUE), b: cut(b, MAX_VALUE), text: isShort ? null : diffTexts(a, b) }
}

export function put(into: Ops, op: PayloadOp): void {
  if (into.ops.length < MAX_OPS) into.ops.push(op)
  else into.more += 1
}

function changeOf(a: JsonNode, b: JsonNode, ptr: string): PayloadOp {
  if (a.kind === "string" && b.kind === "string") return textOp(a.value, b.value, ptr)
  return { op: "change", ptr, a: shown(a), b: shown(b), text: null }
}

function shown(node: JsonNode | undefined): string | null {
  if (!node) return null
  return cut(node.kind === "string" ? node.value : canonicalJsonNode(node), MAX_VALUE)
}
