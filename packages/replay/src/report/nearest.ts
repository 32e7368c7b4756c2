import { type JsonNode, readJson } from "@orangebox/contract"
import { requestMember, speakerOf, toolTrafficOf } from "@orangebox/dialects"
import { escapePointer, jsonDifference, leavesIn, nodeAt, pointerParts, stringAt } from "@orangebox/text"
import type { LeafClass, LeafDiff, NearestCall } from "../generated.js"
import type { Ask } from "../match/ask.js"
import { comparableText, recordedText } from "../match/comparable.js"
import type { Bodies, TapeCall } from "../tape/tape.js"

const TOP = 3
const SHOWN_DIFFS = 8
const SHOWN_TEXT = 160
/** A miss may come in a run of thousands of calls of one shape; the ones recorded around this place are the ones that are meant. */
const CANDIDATES = 48

export interface NearestSearch {
  readonly ask: Ask
  readonly calls: readonly TapeCall[]
  readonly bodies: Bodies
  /** Where in the recording the replay has come to. */
  readonly position: number
  readonly lane: string | undefined
}

/** The recorded calls most like the one that matched none, by the leaves they share. Whole-body distance would say nothing. */
export function nearestCalls(search: NearestSearch): readonly NearestCall[] {
  const { ask, bodies } = search
  if (ask.request === undefined) return []
  const now = comparableText(ask.kind, ask.request)
  return candidatesOf(search)
    .flatMap((call) => {
      const recorded = recordedText(call, bodies)
      const compared = recorded === undefined ? undefined : compareTexts(call, recorded, now)
      return compared ? [compared] : []
    })
    .sort((a, b) => b.equal_leaves - a.equal_leaves || a.diff_leaves - b.diff_leaves)
    .slice(0, TOP)
}

function candidatesOf({ ask, calls, position, lane }: NearestSearch): TapeCall[] {
  const sameKind = calls.filter((call) => call.kind === ask.kind && (ask.kind === "model" || call.name === ask.name))
  const isShape = (call: TapeCall): boolean => !ask.shape || call.shape === null || call.shape === ask.shape
  const isLane = (call: TapeCall): boolean => lane === undefined || call.lane === lane
  const best = [
    sameKind.filter((call) => isLane(call) && isShape(call)),
    sameKind.filter(isShape),
    sameKind.filter(isLane),
    sameKind,
  ].find((list) => list.length > 0)
  return [...(best ?? [])]
    .sort((a, b) => Math.abs(a.openedAt - position) - Math.abs(b.openedAt - position))
    .slice(0, CANDIDATES)
}

function compareTexts(call: TapeCall, recorded: string, now: string): NearestCall | undefined {
  const [first, second] = [readJson(recorded), readJson(now)]
  if (!first.ok || !second.ok) return undefined
  let differing = 0
  let lost = 0
  let count = 0
  const diffs: LeafDiff[] = []
  for (const change of jsonDifference(first.node, second.node)) {
    count++
    const isMoved = change.to !== undefined
    const before = change.before === undefined || isMoved ? 0 : leavesIn(change.before)
    const after = change.after === undefined ? 0 : isMoved ? 1 : leavesIn(change.after)
    lost += before
    differing += Math.max(before, after)
    if (diffs.length < SHOWN_DIFFS) {
      diffs.push({
        ptr: change.pointer,
        class: classOf(call.kind, change.pointer, first.node),
        ...(isMoved
          ? { recorded: change.pointer, now: change.to }
          : shownPair(textOf(change.before, recorded), textOf(change.after, now))),
      })
    }
  }
  return {
    step: call.stepId,
    equal_leaves: Math.max(0, leavesIn(first.node) - lost),
    diff_leaves: differing,
    diffs,
    more_diffs: count - diffs.length,
  }
}

/** Both sides as a reader needs them: strings without quotes, and of long ones the first line that differs. */
function shownPair(recorded: string | null, now: string | null): Pick<LeafDiff, "recorded" | "now" | "line"> {
  if (recorded === null || now === null) return { recorded: cut(recorded), now: cut(now) }
  const recordedLines = recorded.split("\n")
  const nowLines = now.split("\n")
  if (recordedLines.length === 1 && nowLines.length === 1)
    return { recorded: cutAround(recorded, now), now: cutAround(now, recorded) }
  const line = recordedLines.findIndex((text, i) => text !== nowLines[i])
  const at = line < 0 ? recordedLines.length : line
  const [a, b] = [recordedLines[at] ?? "", nowLines[at] ?? ""]
  return { recorded: cutAround(a, b), now: cutAround(b, a), line: at + 1 }
}

function textOf(node: JsonNode | undefined, text: string): string | null {
  if (node === undefined) return null
  return node.kind === "string" ? node.value : text.slice(node.start, node.end)
}

function cut(text: string | null): string | null {
  if (text === null || text.length <= SHOWN_TEXT) return text
  return `${text.slice(0, SHOWN_TEXT - 1).toWellFormed()}…`
}

const CONTEXT = 40

/** The part of a long line in which it differs from another. */
function cutAround(text: string, other: string): string {
  if (text.length <= SHOWN_TEXT) return text
  let at = 0
  while (at < text.length && text[at] === other[at]) at++
  const from = Math.max(0, at - CONTEXT)
  return `${from > 0 ? "…" : ""}${cut(text.slice(from).toWellFormed())}`
}

/** What sort of thing stands at a place of a request. */
export function classOf(kind: TapeCall["kind"], pointer: string, root: JsonNode): LeafClass {
  if (kind === "tool") return "args"
  if (kind === "retriever") return "query"
  const parts = pointerParts(pointer)
  const [top] = parts
  if (top === undefined) return "other"
  const holds = requestMember(top)
  if (holds === undefined || holds === "server_state") return "param"
  if (holds !== "history") return holds
  for (let depth = parts.length; depth >= 1; depth--) {
    const node = nodeAt(root, `/${parts.slice(0, depth).map(escapePointer).join("/")}`)
    if (node && toolTrafficOf(node)?.result) return "tool_result"
    const role = stringAt(node, "role")
    const speaker = role === undefined ? undefined : speakerOf(role)
    if (speaker !== undefined) return speaker === "tool" ? "tool_result" : speaker
  }
  return "user"
}
