import type { WorkspaceView } from "./look-at-workspace.js"

/**
 * The content of a `workspace_snapshot` artifact: what has to be known to make the tree again. Contents are artifacts of their own, each
 * recorded once in a run; `files` names them by their ids.
 */
export interface WorkspaceSnapshot {
  readonly version: 1
  readonly root: string
  readonly folder: string
  readonly base: string | null
  readonly head: string | null
  readonly branch: string | null
  /** The call whose request had just come; null before the command and after it. */
  readonly at_step: string | null
  readonly files: readonly SnapshotFile[]
  readonly left_out: readonly { readonly path: string; readonly why: string }[]
  /** How many more were left out than are named. */
  readonly left_out_more: number
}

export interface SnapshotFile {
  readonly path: string
  readonly kind: "file" | "executable" | "symlink" | "deleted"
  /** Equal within a run for equal files. */
  readonly hash: string
  readonly byte_size: number | null
  /** The artifact with its bytes, or the link's target; null for a deleted one. */
  readonly content: string | null
}

const MOST_NAMED = 100

export function snapshotOf(
  view: WorkspaceView,
  atStep: string | null,
  contentOf: (hash: string) => string | undefined,
): WorkspaceSnapshot {
  const { root, folder, base, head, branch } = view
  const leftOut = [...view.leftOut].map(([path, why]) => ({ path, why }))
  return {
    version: 1,
    root,
    folder,
    base,
    head,
    branch,
    at_step: atStep,
    files: [...view.files].map(([path, { kind, hash, bytes }]) => ({
      path,
      kind,
      hash,
      byte_size: bytes?.length ?? null,
      content: contentOf(hash) ?? null,
    })),
    left_out: leftOut.slice(0, MOST_NAMED),
    left_out_more: Math.max(0, leftOut.length - MOST_NAMED),
  }
}
