import { posix } from "node:path"
import { type Event, MASK_MIDDLE, payloadOf, textIn } from "@orangebox/contract"
import { WorkspaceSnapshot } from "../generated.js"
import type { Bodies, TapeCall } from "../tape/tape.js"

/** The artifact that the contents of a file are recorded as. */
export const FILE_ARTIFACT = "workspace/file/"

/** A work tree as it was at one look: a commit, and the files that differed from it. */
export interface RecordedTree {
  readonly snapshotId: string
  readonly root: string
  readonly folder: string
  readonly base: string | null
  readonly head: string | null
  readonly branch: string | null
  readonly files: readonly TreeFile[]
  /** What cannot be put back exactly, and why. */
  readonly notRestored: readonly NotRestored[]
}

export interface TreeFile {
  readonly path: string
  readonly kind: "file" | "executable" | "symlink" | "deleted"
  /** Null for a deleted one. */
  readonly bytes: Uint8Array | null
}

export interface NotRestored {
  readonly path: string
  readonly why: string
}

/** The work tree around a call: as the command found it, and as it was when the call was asked; null where the work tree was not looked at then. */
export type WorkspaceAt =
  | { readonly found: true; readonly start: RecordedTree; readonly cut: RecordedTree | null }
  | { readonly found: false; readonly why: string }

/** Reads the work tree of a call out of a recording. The recording may come from anywhere: nothing it names leads out of the tree. */
export function workspaceAt(events: readonly Event[], bodies: Bodies, call: TapeCall): WorkspaceAt {
  const trees = new SnapshotTrees(events, bodies)
  const [first] = trees.looks
  if (first === undefined) return { found: false, why: "no work tree was recorded with the run" }
  const steps = new Set([call.stepId, call.attemptOf, ...call.attempts])
  // A look at another moment is not asked: what the agent did between the two would be undone.
  const at = trees.looks.find(({ atStep }) => atStep !== null && steps.has(atStep))
  const start = trees.treeOf(first.snapshotId)
  const cut = at === undefined ? null : trees.treeOf(at.snapshotId)
  if (start === undefined || cut === undefined) {
    return { found: false, why: `its snapshot was not kept, or cannot be read (${(start ? at! : first).snapshotId})` }
  }
  return { found: true, start, cut }
}

/** The work tree as a run found it; undefined where the work tree was not looked at. */
export function firstTree(events: readonly Event[], bodies: Bodies): RecordedTree | undefined {
  const trees = new SnapshotTrees(events, bodies)
  const [first] = trees.looks
  return first && trees.treeOf(first.snapshotId)
}

/** The work tree as a run left it; undefined where the work tree was not looked at. */
export function lastTree(events: readonly Event[], bodies: Bodies): RecordedTree | undefined {
  const trees = new SnapshotTrees(events, bodies)
  const last = trees.looks.at(-1)
  return last && trees.treeOf(last.snapshotId)
}

interface Look {
  readonly snapshotId: string
  readonly atStep: string | null
}

class SnapshotTrees {
  readonly looks: readonly Look[]
  readonly #bodies: Bodies
  readonly #snapshots = new Map<string, Event>()
  readonly #contents = new Map<string, Event>()

  constructor(events: readonly Event[], bodies: Bodies) {
    this.#bodies = bodies
    const looks: Look[] = []
    events.forEach((event) => {
      if (event.event_type === "log") {
        const { workspace, at_step } = event.attributes ?? {}
        if (typeof workspace !== "string") return
        looks.push({ snapshotId: workspace, atStep: typeof at_step === "string" ? at_step : null })
      }
      if (event.event_type !== "artifact_recorded") return
      const payload = payloadOf(event)
      const id = textIn(payload, "artifact_id")
      if (id === undefined) return
      if (id.startsWith(FILE_ARTIFACT)) this.#contents.set(id, event)
      if (textIn(payload, "artifact_type") !== "workspace_snapshot") return
      this.#snapshots.set(id, event)
      looks.push({ snapshotId: id, atStep: this.#read(event)?.at_step ?? null })
    })
    this.looks = looks
  }

  treeOf(snapshotId: string): RecordedTree | undefined {
    const event = this.#snapshots.get(snapshotId)
    const snapshot = event && this.#read(event)
    if (snapshot === undefined) return undefined
    const files: TreeFile[] = []
    const notRestored: NotRestored[] = snapshot.left_out.map(({ path, why }) => ({ path, why }))
    if (snapshot.left_out_more > 0)
      notRestored.push({ path: `${snapshot.left_out_more} more files`, why: "left out of the recording" })
    for (const file of snapshot.files) {
      const unsafe = whyUnsafe(file.path)
      if (unsafe !== undefined) notRestored.push({ path: file.path, why: unsafe })
      else if (file.kind === "deleted") files.push({ path: file.path, kind: file.kind, bytes: null })
      else {
        const { bytes, why } = this.#content(file.content ?? "")
        const leadsOut = bytes !== undefined && file.kind === "symlink" && isOutsideTree(file.path, bytes)
        if (bytes !== undefined && !leadsOut) files.push({ path: file.path, kind: file.kind, bytes })
        const because = leadsOut ? "a link that leads out of the tree" : why
        if (because !== undefined) notRestored.push({ path: file.path, why: because })
      }
    }
    const { root, branch } = snapshot
    const folder = snapshot.folder === "" || whyUnsafe(snapshot.folder) === undefined ? snapshot.folder : ""
    const [base, head] = [commitOf(snapshot.base), commitOf(snapshot.head)]
    if (base === undefined || head === undefined) return undefined
    return { snapshotId, root, folder, base, head, branch, files, notRestored }
  }

  #read(event: Event): WorkspaceSnapshot | undefined {
    const bytes = this.#bodies.get(textIn(payloadOf(event), "content_ref") ?? "")
    if (bytes === undefined) return undefined
    try {
      return WorkspaceSnapshot.parse(JSON.parse(Buffer.from(bytes).toString("utf8")))
    } catch {
      // Older recordings only have hashes, and a recording from elsewhere may have anything.
      return undefined
    }
  }

  #content(id: string): { readonly bytes?: Uint8Array; readonly why?: string } {
    const event = this.#contents.get(id)
    const payload = event && payloadOf(event)
    const hash = payload && textIn(payload, "content_ref")
    const ref = event?.artifact_refs.find(({ artifact_hash }) => artifact_hash === hash)
    const bytes = hash === undefined ? undefined : this.#bodies.get(hash)
    if (event === undefined || bytes === undefined) return { why: ref?.absent ?? "its content was not kept" }
    if (event.redaction_status === "failed") return { why: "its redaction failed" }
    const isMasked = (ref?.masks?.length ?? 0) > 0 || (ref?.mask_count ?? 0) > 0
    return { bytes, ...(isMasked ? { why: "secrets in it are masked" } : {}) }
  }
}

/** Null for none, undefined for what is no name of a commit. */
function commitOf(text: string | null): string | null | undefined {
  return text === null || /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(text) ? text : undefined
}

/**
 * Why a recorded path may not be written to; undefined for one that stays inside the tree and out of git's own folder. Names that some file
 * systems take for `.git` count as it.
 */
export function whyUnsafe(path: string): string | undefined {
  if (path.includes(MASK_MIDDLE)) return "its name is masked"
  if (path === "" || path.startsWith("/") || path.includes("\0")) return "no path inside the tree"
  const parts = path.split("/")
  if (parts.some((part) => part === "" || part === "." || part === "..")) return "no path inside the tree"
  if (parts.some(isGitsOwn)) return "git's own folder"
  return undefined
}

const isGitsOwn = (part: string): boolean => {
  // Some file systems ignore these characters, and others dots and spaces at the end and what follows a colon.
  const bare = part.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, "").replace(/(?::.*|[. ]+)$/, "")
  return /^(?:\.git|git~\d+)$/i.test(bare) || part.includes("\\")
}

/** Whether a link at this path points out of the tree. */
export function isOutsideTree(path: string, target: Uint8Array): boolean {
  const text = Buffer.from(target).toString("utf8")
  if (text === "" || text.includes("\0") || posix.isAbsolute(text) || text.includes("\\")) return true
  const parts = text.split("/").filter((part) => part !== "" && part !== ".")
  // Behind a name `..` is the parent of wherever the name leads, which need not be the folder it stands in.
  if (parts.lastIndexOf("..") > parts.findIndex((part) => part !== "..") && parts.some((part) => part !== ".."))
    return true
  const leads = posix.normalize(posix.join(posix.dirname(path), text))
  if (leads === ".." || leads.startsWith("../")) return true
  return leads !== "." && leads.split("/").some(isGitsOwn)
}
