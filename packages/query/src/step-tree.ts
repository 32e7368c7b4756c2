import { definitionOf, type Event, isEventType, payloadOf, type StepKind, textIn } from "@orangebox/contract"
import { addNotes, type NoteView } from "./notes.js"

/** A step while its events are being gathered. */
export interface StepDraft {
  readonly n: number
  id: string | undefined
  kind: StepKind | undefined
  parent: StepDraft | undefined
  depth: number
  readonly children: StepDraft[]
  opened: Event | undefined
  closed: Event | undefined
  readonly events: Event[]
  readonly notes: NoteView[]
  /** Sequence number of the first thing known about it: its place among its siblings and their notes. */
  readonly at: number
}

/**
 * Steps in the order in which they were first heard of. That order is a step's number for ever: events are only ever appended to a run,
 * and #1 is kept for the run itself even when the record of its opening is missing.
 *
 * A step whose opening is missing still gets its place, because a line about it is better than none.
 */
export function buildStepTree(own: readonly Event[], annotations: readonly Event[]): StepDraft[] {
  if (own.length === 0 && annotations.length === 0) return []
  const drafts: StepDraft[] = []
  const byId = new Map<string, StepDraft>()
  const add = (id: string | undefined, parent: StepDraft | undefined, at: number): StepDraft => {
    const draft: StepDraft = {
      n: drafts.length + 1,
      id,
      kind: undefined,
      parent,
      depth: 0,
      children: [],
      opened: undefined,
      closed: undefined,
      events: [],
      notes: [],
      at,
    }
    drafts.push(draft)
    if (id !== undefined) byId.set(id, draft)
    return draft
  }

  const root = add(rootIdOf(own), undefined, own[0]?.sequence_no ?? 0)
  root.kind = "run"
  const find = (id: string | null, at: number): StepDraft => {
    if (id === null) return root
    return byId.get(id) ?? add(id, root, at)
  }

  for (const event of own) {
    const at = event.sequence_no ?? 0
    const known = event.step_id === null ? root : byId.get(event.step_id)
    const draft = known ?? add(event.step_id ?? undefined, find(event.parent_step_id, at), at)
    take(draft, event, byId)
  }
  for (const event of annotations) {
    if (event.event_type === "process_crashed" && !root.closed) continue
    const subject = textIn(payloadOf(event), "subject_step_id") ?? event.step_id
    const draft = (subject === null ? undefined : byId.get(subject)) ?? root
    draft.events.push(event)
    addNotes(draft.notes, event)
  }

  for (const draft of drafts) {
    if (!draft.parent) continue
    draft.depth = draft.parent.depth + 1
    draft.parent.children.push(draft)
  }
  return drafts
}

function take(draft: StepDraft, event: Event, byId: ReadonlyMap<string, StepDraft>): void {
  draft.events.push(event)
  addNotes(draft.notes, event)
  if (!isEventType(event.event_type)) return
  const { role } = definitionOf(event.event_type)
  if (role.does === "opens" && !draft.opened) {
    draft.opened = event
    draft.kind ??= role.step
    // The parent may have been guessed while the opening was missing. Only an older step can be a parent, so the tree stays one.
    const parent = event.parent_step_id === null ? undefined : byId.get(event.parent_step_id)
    if (parent && draft.parent && parent.n < draft.n) draft.parent = parent
  } else if (role.does === "closes" && !draft.closed) {
    // A record that closes another kind of step is a broken one; it stays in the events and closes nothing.
    if (draft.kind !== undefined && draft.kind !== role.step) return
    draft.closed = event
    draft.kind ??= role.step
  }
}

function rootIdOf(own: readonly Event[]): string | undefined {
  const isOfRun = (event: Event): boolean =>
    event.event_type === "run_started" || event.event_type === "run_completed" || event.event_type === "run_failed"
  const said = own.find(isOfRun) ?? own.find((event) => event.parent_step_id === null)
  return said?.step_id ?? undefined
}
