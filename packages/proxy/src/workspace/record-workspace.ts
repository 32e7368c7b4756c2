import type { Run, Step } from "@orangebox/recorder"
import { lookAtWorkspace, viewSince, type WorkspaceView } from "./look-at-workspace.js"
import { workspaceDiff } from "./workspace-diff.js"

/** A work tree that was looked at before a command. */
export interface RecordedWorkspace {
  /** Looks again and records what is different. */
  finish(): Promise<void>
}

/**
 * Records what a command changes in its git work tree: a snapshot before it, one after it, and a diff for each file between them. What is
 * not under git, or ignored by it, is not looked at. Whatever goes wrong here costs the recording of changes and nothing else.
 */
export async function recordWorkspace(run: Run, folder: string): Promise<RecordedWorkspace | undefined> {
  const before = await lookAtWorkspace(folder).catch(() => undefined)
  if (before === undefined) return undefined
  recordSnapshot(run, "before", before)
  return {
    finish: async () => {
      const step = run.step("workspace")
      try {
        const after = await viewSince(before.root, before.head)
        if (after === undefined) throw new Error("git did not say what changed")
        const { files, leftOut } = await workspaceDiff(before, after)
        for (const [at, file] of files.entries()) {
          step.artifact({
            id: `workspace/diff/${at + 1}`,
            type: "diff",
            summary: `${file.kind} ${file.path}`,
            path: file.path,
            content: file.diff,
            ...(file.linesAdded === null ? {} : { linesAdded: file.linesAdded }),
            ...(file.linesRemoved === null ? {} : { linesRemoved: file.linesRemoved }),
          })
        }
        if (leftOut > 0)
          step.log.warn("changes of some files were not looked at: too many, or too large", { files: leftOut })
        recordSnapshot(step, "after", after)
        step.end()
      } catch (err) {
        step.end({ err })
      }
    },
  }
}

function recordSnapshot(step: Step, when: "before" | "after", { head, files }: WorkspaceView): void {
  step.artifact({
    id: `workspace/${when}`,
    type: "workspace_snapshot",
    summary: `${files.size} ${files.size === 1 ? "file differs" : "files differ"} from ${head?.slice(0, 12) ?? "nothing committed"} ${when} the command`,
    content: { head, files: Object.fromEntries([...files].map(([path, { hash }]) => [path, hash])) },
  })
}
