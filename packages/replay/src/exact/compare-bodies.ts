import { type JsonNode, readJson } from "@orangebox/contract"
import { CACHE_MARKS, looksBinary } from "@orangebox/dialects"
import { foldedAnswer } from "@orangebox/runs"
import { jsonDifference, jsonSpelling, nodesOf } from "@orangebox/text"
import { jsonOps, newOps, type Ops, textOp } from "../diff/json-ops.js"
import { answerText, decode } from "../diff/step-reader.js"
import { cut } from "../diff/text-diff.js"
import type { PayloadOp } from "../generated.js"

/** Two bodies held against each other, byte by byte first and then by what the bytes say. */
export interface BodyComparison {
  /**
   * `same`: every byte. `noise`: other bytes that say the same, but for where cache marks stand. `differs`: another value. `unknown`: bytes
   * of one side are not there, and it is not the same hash.
   */
  readonly verdict: "same" | "noise" | "differs" | "unknown"
  readonly form: "bytes" | "text" | "json" | "answer"
  /** Null where no byte differs, or none can be read. */
  readonly first_difference: FirstDifference | null
  readonly changes: readonly PayloadOp[]
  /** Changes that are not listed. */
  readonly more: number
  /** Cache marks that stand elsewhere: those of the first that the second has not, and the other way round. */
  readonly marks: { readonly a: readonly CacheMarkAt[]; readonly b: readonly CacheMarkAt[] } | null
  readonly spelling: readonly SpellingChange[]
  /** Of `spelling`, what is not listed. */
  readonly more_spelling: number
}

/** The first byte that differs, the value it stands in where both are JSON, and what stands around it where both are text. */
export interface FirstDifference {
  readonly byte: number
  readonly ptr: string | null
  readonly a: string | null
  readonly b: string | null
}

export interface CacheMarkAt {
  readonly ptr: string
  /** What it says, as it was written. */
  readonly mark: string
}

/** The same value in other words. */
export interface SpellingChange {
  readonly kind: "key_order" | "item_order" | "spelling" | "spacing"
  readonly ptr: string
  readonly a: string | null
  readonly b: string | null
}

/** So many places with the same value in other words are listed. */
const MAX_SPELLING = 40
const MAX_VALUE = 240

export function compareBodies(a: Uint8Array, b: Uint8Array): BodyComparison {
  const at = firstDifference(a, b)
  if (at === undefined) return { ...NOTHING, verdict: "same", form: "bytes" }
  const [textA, textB] = [decode(a), decode(b)]
  if (looksBinary(textA) || looksBinary(textB)) {
    const op: PayloadOp = { op: "change", ptr: "", a: `${a.length} bytes`, b: `${b.length} bytes`, text: null }
    const first_difference = { byte: at, ptr: null, a: null, b: null }
    return { ...NOTHING, verdict: "differs", form: "bytes", first_difference, changes: [op] }
  }
  const first_difference = { byte: at, ptr: null, a: around(a, at), b: around(b, at) }
  const [jsonA, jsonB] = [readJson(textA), readJson(textB)]
  if (jsonA.ok && jsonB.ok) {
    const ptr = pointerAt(jsonA.node, decode(a.subarray(0, at)).length)
    return {
      ...compareJson({ node: jsonA.node, text: textA }, { node: jsonB.node, text: textB }),
      first_difference: { ...first_difference, ptr },
    }
  }
  const answers = compareAnswers(a, b)
  if (answers) return { ...answers, first_difference }
  return { ...NOTHING, verdict: "differs", form: "text", first_difference, changes: [textOp(textA, textB, "")] }
}

const NOTHING = {
  first_difference: null,
  changes: [],
  more: 0,
  marks: null,
  spelling: [],
  more_spelling: 0,
} as const satisfies Partial<BodyComparison>

/** Where the bytes of one side are not there: equal hashes are equal bytes, and nothing else is known. */
export function compareHashes(a: string | null, b: string | null): BodyComparison {
  return { ...NOTHING, verdict: a !== null && a === b ? "same" : "unknown", form: "bytes" }
}

function firstDifference(a: Uint8Array, b: Uint8Array): number | undefined {
  const shared = Math.min(a.length, b.length)
  for (let at = 0; at < shared; at++) if (a[at] !== b[at]) return at
  return a.length === b.length ? undefined : shared
}

const BEFORE = 32
const BEHIND = 32

/** Cut to whole characters: the first and the last may have lost a part. */
function around(bytes: Uint8Array, at: number): string {
  const text = decode(bytes.subarray(Math.max(0, at - BEFORE), at + BEHIND))
  return text.replace(/^\ufffd+|\ufffd+$/g, "")
}

interface JsonText {
  readonly node: JsonNode
  readonly text: string
}

function compareJson(a: JsonText, b: JsonText): BodyComparison {
  // Marks move from message to message while the text under them stays, so they must not decide which messages belong together.
  const [plainA, plainB] = [withoutMarks(a.node), withoutMarks(b.node)]
  const ops = newOps()
  jsonOps(plainA, plainB, "", ops)
  const [marksA, marksB] = [marksIn(a), marksIn(b)]
  const marks = { a: missingFrom(marksB, marksA), b: missingFrom(marksA, marksB) }
  const hasMarks = marks.a.length + marks.b.length > 0
  const spelling = spellingOf({ ...a, node: plainA }, { ...b, node: plainB })
  const isExplained = ops.ops.length > 0 || spelling.length > 0 || hasMarks
  if (!isExplained || spaceIn(a) !== spaceIn(b)) spelling.push({ kind: "spacing", ptr: "", a: null, b: null })
  return {
    ...NOTHING,
    ...changesOf(ops),
    form: "json",
    marks: hasMarks ? marks : null,
    spelling: spelling.slice(0, MAX_SPELLING),
    more_spelling: Math.max(0, spelling.length - MAX_SPELLING),
  }
}

function spellingOf(a: JsonText, b: JsonText): SpellingChange[] {
  const found: SpellingChange[] = []
  for (const { kind, pointer, before, after } of jsonSpelling(a, b)) {
    found.push({ kind, ptr: pointer, a: cut(before, MAX_VALUE), b: cut(after, MAX_VALUE) })
  }
  for (const { kind, pointer, before, after, to } of jsonDifference(a.node, b.node)) {
    if (kind === "moved") found.push({ kind: "item_order", ptr: pointer, a: pointer, b: to ?? null })
    if (kind !== "changed" || before?.kind !== "string" || after?.kind !== "string") continue
    // Tool arguments are JSON inside JSON, and the same value there is no change either.
    const inner = newOps()
    jsonOps(before, after, pointer, inner)
    if (inner.ops.length === 0)
      found.push({ kind: "spelling", ptr: pointer, a: cut(before.value, MAX_VALUE), b: cut(after.value, MAX_VALUE) })
  }
  return found
}

const changesOf = ({ ops, more }: Ops): Pick<BodyComparison, "verdict" | "changes" | "more"> => ({
  verdict: ops.length > 0 ? "differs" : "noise",
  changes: ops,
  more,
})

/** Two streams are compared by the answers they add up to: how a provider cut them into pieces says nothing. */
function compareAnswers(a: Uint8Array, b: Uint8Array): BodyComparison | undefined {
  const [answerA, answerB] = [foldedAnswer(a), foldedAnswer(b)]
  if (!answerA || !answerB) return undefined
  const [readingA, readingB] = [readJson(answerText(answerA)), readJson(answerText(answerB))]
  if (!readingA.ok || !readingB.ok) return undefined
  const ops = newOps()
  jsonOps(readingA.node, readingB.node, "", ops)
  return { ...NOTHING, ...changesOf(ops), form: "answer" }
}

function marksIn({ node: root, text }: JsonText): CacheMarkAt[] {
  const marks: CacheMarkAt[] = []
  for (const { pointer, node } of nodesOf(root)) {
    if (node.kind !== "object") continue
    for (const { key, value } of node.members)
      if (CACHE_MARKS.has(key)) marks.push({ ptr: pointer, mark: text.slice(value.start, value.end) })
  }
  return marks
}

function missingFrom(others: readonly CacheMarkAt[], marks: readonly CacheMarkAt[]): CacheMarkAt[] {
  const known = new Set(others.map(({ ptr, mark }) => `${ptr} ${mark}`))
  return marks.filter(({ ptr, mark }) => !known.has(`${ptr} ${mark}`))
}

/** From the leaves up with a list of our own: nesting is as deep as the recording says. */
function withoutMarks(root: JsonNode): JsonNode {
  const made = new Map<JsonNode, JsonNode>()
  for (const { node } of [...nodesOf(root)].reverse()) {
    if (node.kind === "array") {
      made.set(node, { ...node, items: node.items.map((item) => made.get(item) ?? item) })
    } else if (node.kind === "object") {
      const members = node.members.filter(({ key }) => !CACHE_MARKS.has(key))
      made.set(node, { ...node, members: members.map(({ key, value }) => ({ key, value: made.get(value) ?? value })) })
    }
  }
  return made.get(root) ?? root
}

/** The innermost value that holds a character. */
function pointerAt(root: JsonNode, at: number): string {
  let innermost = ""
  for (const { node, pointer } of nodesOf(root)) if (node.start <= at && at < node.end) innermost = pointer
  return innermost
}

/** How many characters of a text are neither value nor key nor the signs between them. */
function spaceIn({ node: root, text }: JsonText): number {
  let written = 0
  for (const { node } of nodesOf(root)) {
    if (node.kind === "object") {
      written += 2 + Math.max(0, node.members.length - 1)
      for (const { key } of node.members) written += JSON.stringify(key).length + 1
    } else if (node.kind === "array") written += 2 + Math.max(0, node.items.length - 1)
    else written += node.end - node.start
  }
  return text.length - written
}
