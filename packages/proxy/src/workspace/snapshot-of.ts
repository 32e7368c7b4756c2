import type { WorkspaceSnapshot } from "@orangebox/replay"
import type { WorkspaceView } from "./look-at-workspace.js"

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
