import {
  countIn,
  type Event,
  type EventType,
  isEventType,
  type Link,
  numberIn,
  payloadOf,
  textIn,
} from "@orangebox/contract"
import { promptAccountIn } from "@orangebox/dialects"
import { type Gap, linksOf } from "@orangebox/runs"
import type { InboundLink } from "./run-view.js"

/** What stands in an event, a link of one, a loss, or an event of a type that this version does not know. */
export type NoteKind = NonNullable<(typeof NOTE_KINDS)[EventType]> | "link" | "gap" | "injected" | "unknown"

/** Something inside a step that deserves a line of its own. */
export interface NoteView {
  readonly kind: NoteKind
  readonly weight: "bad" | "warn" | "plain"
  /** A debug or info log: counted, and told where logs are asked for. */
  readonly isQuiet: boolean
  /** Its place among the step's children, as a sequence number; annotations come after everything. */
  readonly at: number
  /** The record behind it; a loss has a gap instead. */
  readonly event: Event | undefined
  readonly gap: Gap | undefined
  /** The link it tells of, for a note of that kind. */
  readonly link: Link | undefined
  /** The same for a link that points here. */
  readonly inbound: InboundLink | undefined
  /** The prompt before it in the same lane, for a note of that kind; set when all calls of the run are known. */
  before: Event | undefined
  /** Which of the parts of a told prompt or its manifest the request did not hold. */
  readonly unsent?: readonly number[] | undefined
}

/** Adds the notes an event is worth. What opens or closes a step is the step's own line. */
export function addNotes(notes: NoteView[], event: Event, prompts: PromptStory): void {
  if (prompts.retold.has(event)) return
  const at = event.sequence_no ?? AFTER_THE_RUN
  const kind = kindOf(event)
  const note = { at, event, gap: undefined, link: undefined, inbound: undefined, before: prompts.before.get(event) }
  const unsent = prompts.unsent.get(event)
  const isQuiet = kind === "log" && !/^(?:warn|error)$/.test(textIn(payloadOf(event), "level") ?? "")
  const weight = isQuiet ? "plain" : weightOf(event)
  if (kind !== undefined) notes.push({ ...note, kind, weight, isQuiet, ...(unsent ? { unsent } : {}) })
  for (const link of linksOf(event)) {
    // The causal chain inside a run is what the tree already shows.
    if (link.kind !== "follows") notes.push({ ...note, kind: "link", weight: "plain", isQuiet: false, link })
  }
}

/** Prompts as a reader meets them. */
export interface PromptStory {
  /** Every prompt with the one before it in its lane: what a reader wants to know of a prompt is what is new in it. */
  readonly before: ReadonlyMap<Event, Event>
  /** Prompts read off a request that the application had told of in its own words: one line is enough. */
  readonly retold: ReadonlySet<Event>
  /** Of a told prompt and its manifest, the parts that the request of their call did not hold. */
  readonly unsent: ReadonlyMap<Event, readonly number[]>
}

export function promptStory(own: readonly Event[]): PromptStory {
  const before = new Map<Event, Event>()
  const retold = new Set<Event>()
  const last = new Map<string, Event>()
  const told = new Set<string | undefined>()
  const unsent = new Map<Event, readonly number[]>()
  let lastTold: Event | undefined
  let lastManifest: Event | undefined
  for (const event of own) {
    const { lane_id: lane, inferred_by } = event
    if (event.event_type === "model_result") told.delete(lane)
    if (event.event_type === "context_manifest") lastManifest = event
    if (event.event_type === "model_called") {
      const { missingItems } = promptAccountIn(payloadOf(event)) ?? {}
      for (const told of missingItems ? [lastTold, lastManifest] : []) if (told) unsent.set(told, missingItems!)
    }
    if (event.event_type !== "prompt_assembled") continue
    if (inferred_by === undefined) lastTold = event
    if (inferred_by === undefined) told.add(lane)
    else if (told.has(lane)) retold.add(event)
    const line = `${lane}\0${inferred_by}`
    const previous = last.get(line)
    if (previous) before.set(event, previous)
    last.set(line, event)
  }
  return { before, retold, unsent }
}

const NOTHING = {
  isQuiet: false,
  event: undefined,
  gap: undefined,
  link: undefined,
  inbound: undefined,
  before: undefined,
}

export function gapNote(gap: Gap): NoteView {
  return { ...NOTHING, kind: "gap", weight: "bad", at: gap.fromSequence ?? AFTER_THE_RUN, gap }
}

export function injectedNote(event: Event): NoteView {
  return { ...NOTHING, kind: "injected", weight: "bad", at: event.sequence_no ?? AFTER_THE_RUN, event }
}

/** What led to a step is shown before what is in it. */
export function inboundNote(inbound: InboundLink, at: number): NoteView {
  return { ...NOTHING, kind: "link", weight: "plain", at, inbound }
}

const AFTER_THE_RUN = Number.MAX_SAFE_INTEGER

function kindOf(event: Event): NoteKind | undefined {
  if (!isEventType(event.event_type)) return "unknown"
  return NOTE_KINDS[event.event_type] ?? undefined
}

/** The line every type of event is worth; null for what its step's own line tells. */
const NOTE_KINDS = {
  run_started: null,
  input_received: null,
  prompt_rendered: null,
  retrieval_executed: "retrieval",
  tool_called: null,
  tool_result: null,
  model_called: null,
  model_result: null,
  validator_decision: "validator",
  safety_decision: "safety",
  final_output: "output",
  run_completed: null,
  run_failed: null,
  step_started: null,
  step_ended: null,
  log: "log",
  link_added: null,
  attributes_set: null,
  prompt_assembled: "prompt",
  context_manifest: "context",
  artifact_recorded: "artifact",
  decision: "decision",
  evaluation: "evaluation",
  override: "override",
  findings: "findings",
  fault: "fault",
  repair: "repair",
  source_diagnostics: null,
  // Its call and its prompt tell it.
  wire_derived: null,
  process_started: null,
  process_exited: null,
  process_crashed: "crash",
} as const satisfies Readonly<Record<EventType, string | null>>

function weightOf(event: Event): NoteView["weight"] {
  const payload = payloadOf(event)
  const worst = (words: readonly (string | undefined)[]): NoteView["weight"] =>
    words.some((word) => word === "fail" || word === "failed" || word === "error" || word === "timeout")
      ? "bad"
      : words.some((word) => word === "warn" || word === "block" || word === "escalate" || word === "partial")
        ? "warn"
        : "plain"
  switch (event.event_type) {
    case "fault":
      return textIn(payload, "trigger") === "debug_request" ? "plain" : "bad"
    case "log":
      return textIn(payload, "level") === "error" ? "bad" : "warn"
    case "evaluation":
      return worst([textIn(payload, "alignment"), textIn(payload, "quality"), textIn(payload, "policy")])
    case "findings":
      return textIn(payload, "verdict") === "found" ? "warn" : "plain"
    case "override":
      return worst([textIn(payload, "verdict")])
    case "validator_decision":
    case "safety_decision":
      return worst([textIn(payload, "decision")])
    case "repair":
      return textIn(payload, "outcome") === "failed" ? "bad" : "warn"
    case "retrieval_executed":
      return countIn(payload, "candidate_count") === 0 ? "warn" : worst([textIn(payload, "status")])
    case "artifact_recorded":
      return (numberIn(payload, "exit_code") ?? 0) !== 0 ? "bad" : "plain"
    case "process_crashed":
      return "warn"
    default:
      return "plain"
  }
}
