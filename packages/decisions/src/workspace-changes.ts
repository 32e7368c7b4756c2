import { countIn, type Event, payloadOf, textIn } from "@orangebox/contract"
import type { Run, Step } from "@orangebox/runs"
import type { Action, FileEdit } from "./action.js"
import { type BodyLookup, bodyText } from "./recorded-run.js"

/**
 * Which action changed the files that a look at the work tree found changed: artifact event → the step of the action. A look follows the
 * tools that ran since the one before it. A file that one of them was told to edit is that one's; else it is the work of the one command
 * among them. Of several commands nobody can tell which it was, and then the change stays nobody's.
 */
export function changeOwners(index: Run, actions: readonly Action[]): ReadonlyMap<Event, string> {
  const owners = new Map<Event, string>()
  const looks = index.steps.filter(isWorkspaceLook)
  if (looks.length === 0) return owners
  const byStep = new Map(actions.flatMap((action) => (action.boundary === "tool" ? [[action.stepId, action]] : [])))
  for (const look of looks) {
    const followed = (look.opened?.links ?? []).flatMap(({ kind, step_id }) =>
      kind === "follows" && step_id !== undefined ? (byStep.get(step_id) ?? []) : [],
    )
    for (const event of look.events) {
      const path = changedPath(event)
      const owner = path === undefined ? undefined : ownerOf(path, followed)
      if (owner) owners.set(event, owner.stepId)
    }
  }
  return owners
}

/** The tools that ran between a look and the one before it; undefined for a step that is no look, of which only the order is known. */
export function toolsBeforeLook(
  index: Run,
  stepId: string | null,
  actions: readonly Action[],
): readonly Action[] | undefined {
  const look = stepId === null ? undefined : index.stepOf(stepId)
  if (look === undefined || !isWorkspaceLook(look)) return undefined
  const followed = new Set(
    (look.opened?.links ?? []).flatMap(({ kind, step_id }) => (kind === "follows" ? (step_id ?? []) : [])),
  )
  return actions.filter(({ boundary, stepId: id }) => boundary === "tool" && followed.has(id))
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
    const seen = action.boundary === "tool" ? edits.get(action.stepId) : undefined
    const added = seen?.filter(({ path }) => !isTold(action, path)) ?? []
    return added.length === 0 ? action : { ...action, edits: [...action.edits, ...added] }
  })
}

const isWorkspaceLook = (step: Step): boolean => payloadOf(step.opened)["kind"] === "workspace"

function changedPath(event: Event): string | undefined {
  const payload = payloadOf(event)
  return event.event_type === "artifact_recorded" && payload["artifact_type"] === "diff"
    ? textIn(payload, "path")
    : undefined
}

function ownerOf(path: string, followed: readonly Action[]): Action | undefined {
  const told = followed.filter((action) => isTold(action, path))
  if (told.length > 0) return told.at(-1)
  const able = followed.filter(({ commands, unread }) => commands.length > 0 || unread.includes("args"))
  return able.length === 1 ? able[0] : undefined
}

/** Tools are told paths as they please, absolute ones too; the work tree's begin at its root. */
function isTold({ edits, paths }: Action, path: string): boolean {
  const isSame = (told: string): boolean => told === path || told.endsWith(`/${path}`)
  return edits.some((edit) => isSame(edit.path)) || paths.some((one) => one.access !== "read" && isSame(one.path))
}

function editOf(event: Event, bodies: BodyLookup): FileEdit {
  const payload = payloadOf(event)
  const ref = textIn(payload, "content_ref") ?? null
  const diff = bodyText(bodies, ref) ?? ""
  return {
    path: textIn(payload, "path") ?? "",
    kind: /^\+\+\+ \/dev\/null$/m.test(diff) ? "delete" : /^--- \/dev\/null$/m.test(diff) ? "create" : "change",
    diff,
    linesAdded: countIn(payload, "lines_added") ?? 0,
    linesRemoved: countIn(payload, "lines_removed") ?? null,
    beforeHash: null,
    afterHash: null,
    evidence: { stepId: event.step_id ?? "", ref },
  }
}
