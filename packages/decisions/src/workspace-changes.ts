import { asRecord, countIn, type Event, payloadOf, textIn } from "@orangebox/contract"
import { parseJson } from "@orangebox/dialects"
import { isFailure, isWorkspaceLook, type Run, type Step } from "@orangebox/runs"
import type { Action, FileEdit, WorkTree } from "./action.js"
import { isClassifiedEdit } from "./classified-work.js"
import { isSamePath } from "./net-changes.js"
import { type BodyLookup, bodyText } from "./recorded-run.js"

/** One look at the work tree that found something changed. */
export interface Look {
  readonly step: Step
  /** Its diffs, in order. */
  readonly changes: readonly Event[]
  /**
   * What may have changed the files: the tools that ran since the look before, or, where none ran, the last answer the agent was given that
   * asked for no tool. Agents such as aider carry out by themselves what an answer says.
   */
  readonly tools: readonly Action[]
  readonly answer: Action | undefined
}

/** Looks at the work tree in their order, with the actions between them and the ones before. */
export function looksIn(index: Run, actions: readonly Action[]): Look[] {
  const steps = index.steps.filter(isWorkspaceLook)
  if (steps.length === 0) return []
  const placeOf = new Map(index.events.map((event, at) => [event.event_id, at]))
  const tools = new Map(actions.flatMap((action) => (action.boundary === "tool" ? [[action.stepId, action]] : [])))
  const answers = actions.filter(({ boundary, status }) => boundary === "completion" && !isFailure(status))
  const asked = new Set([...tools.values()].map(({ modelStepId }) => modelStepId))
  let before = -1
  return steps.map((step) => {
    const place = placeOf.get((step.opened ?? step.events[0])?.event_id ?? "") ?? before
    const between = answers.filter(({ eventId }) => {
      const at = placeOf.get(eventId) ?? -1
      return at > before && at < place
    })
    before = place
    const followed = (step.opened?.links ?? []).flatMap(({ kind, step_id }) =>
      kind === "follows" && step_id !== undefined ? (tools.get(step_id) ?? []) : [],
    )
    const answer =
      followed.length > 0 ? undefined : between.findLast(({ stepId, type }) => !asked.has(stepId) && type !== "other")
    return { step, changes: step.events.filter((event) => changedPath(event) !== undefined), tools: followed, answer }
  })
}

/**
 * Which action changed the files that a look found changed: artifact event → the step of the action. A file that a tool was told to edit is that
 * tool's; else it is the work of the one command among them. Which of several commands it was cannot be told, and then the change belongs to
 * none of them. What changed behind an answer alone is the answer's.
 */
export function changeOwners(index: Run, actions: readonly Action[]): ReadonlyMap<Event, string> {
  const owners = new Map<Event, string>()
  for (const { changes, tools, answer } of looksIn(index, actions)) {
    for (const event of changes) {
      const owner = ownerOf(changedPath(event)!, tools) ?? answer
      if (owner) owners.set(event, owner.stepId)
    }
  }
  return owners
}

/** What looks at the work tree, or the application itself, saw changed, in order. */
export function seenChanges(index: Run, bodies: BodyLookup): FileEdit[] {
  return index.own.filter((event) => isChange(event) && !isClassifiedEdit(event)).map((event) => editOf(event, bodies))
}

/**
 * The work tree of a run that was looked at before its first action and after its last. Undefined where it was not, as in a run that died,
 * and where files that differ were not read: what was not seen may have changed there.
 */
export function workTreeOf(index: Run, bodies: BodyLookup): WorkTree | undefined {
  const snapshot = (id: string): Event | undefined =>
    index.own.find((event) => event.event_type === "artifact_recorded" && payloadOf(event)["artifact_id"] === id)
  const before = snapshot("workspace/before")
  if (before === undefined) return undefined
  const logs = index.own.filter(({ event_type }) => event_type === "log")
  const isUnchanged = logs.some(
    ({ attributes = {} }) => attributes["workspace"] !== undefined && attributes["at_step"] === undefined,
  )
  if (!isUnchanged && snapshot("workspace/after") === undefined) return undefined
  const hasLeftOut = logs.some(
    ({ attributes, payload }) =>
      payloadOf({ payload })["level"] === "warn" && typeof attributes?.["files"] === "number",
  )
  if (hasLeftOut) return undefined
  const text = bodyText(bodies, textIn(payloadOf(before), "content_ref"))
  const root = textIn(asRecord(text === null ? undefined : parseJson(text)) ?? {}, "root")
  return { root: root ?? null }
}

/** Actions with what the work tree shows of them: a command tells what it runs, and rarely what that changes. */
export function withWorkspaceChanges(index: Run, bodies: BodyLookup, actions: readonly Action[]): Action[] {
  const edits = new Map<string, FileEdit[]>()
  for (const [event, stepId] of changeOwners(index, actions)) {
    const list = edits.get(stepId) ?? []
    list.push(editOf(event, bodies))
    edits.set(stepId, list)
  }
  return actions.map((action) => {
    const isOwner = action.boundary === "tool" || action.boundary === "completion"
    const seen = isOwner ? edits.get(action.stepId) : undefined
    const added = seen?.filter(({ path }) => !isTold(action, path)) ?? []
    if (added.length === 0) return action
    // An answer that was carried out is an edit.
    const type = action.boundary === "completion" && action.type === "message" ? "edit" : action.type
    return { ...action, type, edits: [...action.edits, ...added] }
  })
}

export function isChange(event: Event): boolean {
  if (event.event_type !== "artifact_recorded") return false
  const type = payloadOf(event)["artifact_type"]
  return type === "diff" || type === "file_edit"
}

/** What a classifier keeps of an edit names its file in the summary, a look by its number where no text is kept. */
function changedPath(event: Event): string | undefined {
  const payload = payloadOf(event)
  if (!isChange(event)) return undefined
  const id = textIn(payload, "artifact_id") ?? ""
  const [, number] = /^workspace\/diff\/\d+\/of\/(\d+)$/.exec(id) ?? []
  const unnamed = number === undefined ? undefined : `file ${number}`
  return textIn(payload, "path") ?? (id.startsWith("edit/") ? textIn(payload, "summary") : unnamed)
}

function ownerOf(path: string, followed: readonly Action[]): Action | undefined {
  const told = followed.filter((action) => isTold(action, path))
  if (told.length > 0) return told.at(-1)
  const able = followed.filter(({ commands, unread }) => commands.length > 0 || unread.includes("args"))
  return able.length === 1 ? able[0] : undefined
}

const isTold = ({ edits, paths }: Action, path: string): boolean =>
  edits.some((edit) => isSamePath(edit.path, path)) ||
  paths.some((one) => one.access !== "read" && isSamePath(one.path, path))

export function editOf(event: Event, bodies: BodyLookup): FileEdit {
  const payload = payloadOf(event)
  const ref = textIn(payload, "content_ref") ?? null
  const diff = bodyText(bodies, ref) ?? ""
  const [added, removed] = [countIn(payload, "net_lines_added"), countIn(payload, "net_lines_removed")]
  return {
    path: changedPath(event) ?? "",
    kind: /^\+\+\+ \/dev\/null$/m.test(diff) ? "delete" : /^--- \/dev\/null$/m.test(diff) ? "create" : "change",
    diff,
    linesAdded: countIn(payload, "lines_added") ?? 0,
    // What has no lines to add has none to take away either.
    linesRemoved: countIn(payload, "lines_removed") ?? (countIn(payload, "lines_added") === undefined ? 0 : null),
    ...(added !== undefined && { net: { added, removed: removed ?? null } }),
    beforeHash: null,
    afterHash: null,
    evidence: { stepId: event.step_id ?? "", ref },
  }
}
