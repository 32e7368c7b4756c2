import { type Event, payloadOf, recordsIn, textIn } from "@orangebox/contract"
import type { RunView } from "../run-view.js"
import type { RecordedContext } from "./recorded-contexts.js"
import { READER } from "./segment-items.js"

/**
 * The lanes of a run. Where the wire was followed, each call says its own. An application's own steps do not say it, so it is deduced:
 * calls of one step are one line; a step that begins with another conversation than any before, such as a sub-agent's, is another one.
 */
export function withLanes(view: RunView, contexts: readonly RecordedContext[]): readonly RecordedContext[] {
  const earlier: Placed[] = []
  const sisters = new Map<number | undefined, Placed>()
  return contexts.map((context) => {
    if (context.isAuxiliary) return context
    const talk = talkOf(context)
    const sister = sisters.get(context.step.parent)
    const lane = context.lane ?? (sister ? sister.lane : laneOf(view, earlier, context, talk))
    const placed = { context, talk, lane }
    earlier.push(placed)
    sisters.set(context.step.parent, placed)
    return lane === context.lane ? context : { ...context, lane, laneInferredBy: READER }
  })
}

/** What tells one conversation from another: who the model is to be, and what was said, by their hashes. */
interface Talk {
  readonly persona: string
  readonly messages: readonly string[]
}

interface Placed {
  readonly context: RecordedContext
  readonly talk: Talk
  /** Undefined is the main one. */
  readonly lane: string | undefined
}

function laneOf(view: RunView, earlier: readonly Placed[], context: RecordedContext, talk: Talk): string | undefined {
  const parent = context.step.parent
  if (earlier.length === 0) return undefined
  const continued = earlier.findLast((other) => goesOn(other.talk, talk))
  if (continued) return continued.lane
  const isApart = earlier.some(({ context: other }) => isAcross(view, other.step.parent, parent))
  const related = isApart ? undefined : earlier.findLast((other) => isRelated(other, { context, talk }))
  return related ? related.lane : nameOf(view, context)
}

/** Everything that was said is said again, and more. */
const goesOn = (before: Talk, now: Talk): boolean =>
  before.messages.length > 0 && before.messages.every((hash, at) => hash === now.messages[at])

/** One of the two steps stands below the other: an agent and what it hands to another. */
function isAcross(view: RunView, one: number | undefined, other: number | undefined): boolean {
  if (one === undefined || other === undefined) return false
  return isBelow(view, one, other) || isBelow(view, other, one)
}

/**
 * Steps beside each other may be the turns of one agent, also of one whose history was cut or summed up between them. They are not where
 * nothing speaks for it: another persona, or a history too short to have been cut.
 */
function isRelated(before: Pick<Placed, "context" | "talk">, now: Pick<Placed, "context" | "talk">): boolean {
  // Compiled contexts are new texts every time; their items have names, by which they are compared.
  if (before.context.manifests.length > 0 || now.context.manifests.length > 0) return true
  if (before.talk.messages.length === 0 || now.talk.messages.length === 0) return true
  if (before.talk.messages.some((hash) => now.talk.messages.includes(hash))) return true
  return before.talk.persona === now.talk.persona && before.talk.messages.length > 2
}

/** `researcher#4`: the step that begins it. */
function nameOf(view: RunView, { step }: RecordedContext): string {
  const holder = step.parent === undefined ? step : (view.steps[step.parent - 1] ?? step)
  return `${holder.name ?? holder.kind}#${holder.n}`
}

export function talkOf({ derived, told }: RecordedContext): Talk {
  const segments = recordsIn(payloadOf((derived ?? told) as Event | undefined), "segments")
  const hashesOf = (...kinds: string[]): string[] =>
    segments
      .filter((segment) => kinds.includes(textIn(segment, "kind") ?? ""))
      .map((segment) => textIn(segment, "segment_hash") ?? textIn(segment, "content_ref") ?? "")
  return { persona: hashesOf("persona").join("\n"), messages: hashesOf("history", "user-msg") }
}

export function isBelow(view: RunView, inner: number, outer: number): boolean {
  for (let at = view.steps[inner - 1]?.parent; at !== undefined; at = view.steps[at - 1]?.parent) {
    if (at === outer) return true
  }
  return false
}
