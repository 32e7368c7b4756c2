import type { Event } from "@orangebox/contract"
import { askAgain } from "../engine/ask-again.js"
import { openReplay } from "../match/session.js"
import type { SessionState } from "../match/session-state.js"
import { divergenceAt } from "../report/divergence-at.js"
import { EVERYTHING } from "../tape/served-tools.js"
import type { Tape } from "../tape/tape.js"
import { tapeOf } from "../tape/tape-of.js"

/** What one process of an agent has to say of its part in a replay. */
export interface SavedReplay {
  readonly state: SessionState
  /** What it recorded, and the bodies a tape of it cannot do without. */
  readonly events: readonly Event[]
  readonly bodies: ReadonlyMap<string, Uint8Array>
  /** Records of it that could not be written. */
  readonly dropped: number
  /** In words, where the process did not get to its end: what it recorded until then is known, and nothing else. */
  readonly cutOff?: string
}

/** A record of a process that still goes on, as a line of its account. */
export const recordLine = (json: string, bodies: ReadonlyMap<string, Uint8Array>): string =>
  `${JSON.stringify([json, [...bodies].map(([hash, bytes]) => [hash, Buffer.from(bytes).toString("base64")])])}\n`

/**
 * The account of a process that left none at its end, because it was killed: the tape is asked once more what the process had asked by then.
 *
 * @param lines as `recordLine` makes them; the last may be torn
 */
export function readCutOffReplay(lines: string, tape: Tape, process: string): SavedReplay {
  const events: Event[] = []
  const bodies = new Map<string, Uint8Array>()
  for (const line of lines.split("\n").slice(0, -1)) {
    const [json, added] = JSON.parse(line) as [string, [string, string][]]
    events.push(JSON.parse(json) as Event)
    for (const [hash, base64] of added) bodies.set(hash, new Uint8Array(Buffer.from(base64, "base64")))
  }
  const reading = tapeOf(events, { get: (hash) => bodies.get(hash) ?? tape.bodies.get(hash) })
  const session = openReplay(tape)
  if (reading.ok) askAgain(session, reading.tape, EVERYTHING)
  return { state: session.state, events, bodies, dropped: 0, cutOff: `${process} was killed before it came to its end` }
}

/** The file that holds a body of a tape that is laid out in a folder. */
export const bodyFileName = (hash: string): string => hash.replace(/[^0-9a-z]/g, "-")

/** As text, for the process that judges the replay. */
export const saveReplay = (saved: SavedReplay): string =>
  JSON.stringify(saved, (_, value: unknown) => {
    if (value instanceof Map) return { "@map": [...value] }
    if (value instanceof Set) return { "@set": [...value] }
    // Buffers turn themselves into something else before they come here, so bodies are plain bytes.
    return value instanceof Uint8Array ? { "@bytes": Buffer.from(value).toString("base64") } : value
  })

export function readSavedReplay(text: string): SavedReplay {
  return JSON.parse(text, (_, value: unknown) => {
    if (typeof value !== "object" || value === null) return value
    if ("@map" in value) return new Map(value["@map"] as [unknown, unknown][])
    if ("@set" in value) return new Set(value["@set"] as unknown[])
    return "@bytes" in value ? new Uint8Array(Buffer.from(String(value["@bytes"]), "base64")) : value
  }) as SavedReplay
}

/** Takes what another process was answered into one account, as if it had come behind everything so far. */
export function joinState(into: SessionState, other: SessionState): void {
  const before = into.tickets
  into.tickets += other.tickets
  for (const [stepId, ticket] of other.consumed) {
    if (into.consumed.has(stepId)) into.divergences.push(twice(into, stepId))
    into.consumed.set(stepId, before + ticket)
  }
  for (const stepId of other.servedWhole) into.servedWhole.add(stepId)
  for (const stepId of other.left) into.left.add(stepId)
  for (const [lane, recorded] of other.lanes) into.lanes.set(lane, recorded)
  for (const [lane, modes] of other.taints)
    into.taints.set(lane, [...new Set([...(into.taints.get(lane) ?? []), ...modes])])
  for (const call of other.answered) into.answered.push({ ...call, ticket: before + call.ticket })
  // A fork says its notes at the start of every session.
  const isKnown = new Set(into.divergences.map(({ code, message }) => `${code} ${message}`))
  for (const found of other.divergences) {
    if (found.severity === "note" && isKnown.has(`${found.code} ${found.message}`)) continue
    into.divergences.push({ ...found, n: into.divergences.length + 1 })
  }
  into.upstreamSockets += other.upstreamSockets
  into.denied += other.denied
  into.position = Math.max(into.position, other.position)
  if (other.haltedAt !== null)
    into.haltedAt = Math.min(into.haltedAt ?? Number.POSITIVE_INFINITY, before + other.haltedAt)
  into.isForkReached ||= other.isForkReached
  for (const [rule, uses] of other.ruleUses) into.ruleUses.set(rule, (into.ruleUses.get(rule) ?? 0) + uses)
  for (const [rule, seen] of other.ruleSeen) into.ruleSeen.set(rule, (into.ruleSeen.get(rule) ?? 0) + seen)
}

function twice({ divergences }: SessionState, stepId: string): SessionState["divergences"][number] {
  const message = "asked for in two processes, and recorded once"
  const place = { kind: "run" as const, name: stepId, stepId }
  return { n: divergences.length + 1, ...divergenceAt(place, "OCCURRENCE_EXHAUSTED", "halt", message) }
}
