import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { git, runGit } from "./git.js"
import type { WorkspaceFile, WorkspaceView } from "./look-at-workspace.js"

/** What happened to one file, as a unified diff. */
export interface FileChange {
  readonly path: string
  readonly kind: "create" | "change" | "delete"
  readonly diff: string
  /** Null for what has no lines. */
  readonly linesAdded: number | null
  readonly linesRemoved: number | null
}

export interface WorkspaceChanges {
  readonly files: readonly FileChange[]
  /** Files that changed and were not compared. */
  readonly leftOut: number
}

const MOST_CHANGES = 200
const MOST_DIFF_CHARS = 256_000
/** For all of it: when the command has ended, the user waits for the verdict. */
const PATIENCE_MS = 10_000

/** The changes between two views of one tree, of all files or only of some. */
export async function workspaceDiff(
  before: WorkspaceView,
  after: WorkspaceView,
  only?: readonly string[],
): Promise<WorkspaceChanges> {
  const paths = changedPaths(before, after).filter((path) => only?.includes(path) ?? true)
  const files: FileChange[] = []
  const deadline = performance.now() + PATIENCE_MS
  let compared = 0
  const folder = mkdtempSync(join(tmpdir(), "orangebox-diff-"))
  try {
    for (const path of paths.slice(0, MOST_CHANGES)) {
      if (performance.now() > deadline) break
      compared++
      // A file that one view does not list is there as the commit has it.
      const [old, now] = [before.files.get(path), after.files.get(path)]
      const unlisted = old && now ? null : await committed(before, path)
      const change =
        (await diffOf(folder, path, old ? old.bytes : unlisted, now ? now.bytes : unlisted)) ??
        modeChange(
          path,
          old?.kind ?? (await committedKind(before, path)),
          now?.kind ?? (await committedKind(before, path)),
        )
      if (change !== undefined) files.push(change)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return { files, leftOut: paths.length - compared }
}

/** The files that differ between two views. One that could not be read in one of them is not known to differ. */
export function changedPaths(before: WorkspaceView, after: WorkspaceView): string[] {
  return [...new Set([...before.files.keys(), ...after.files.keys()])]
    .filter((path) => before.files.get(path)?.hash !== after.files.get(path)?.hash)
    .filter((path) => !before.leftOut.has(path) && !after.leftOut.has(path))
    .sort()
}

/** A file as the commit has it; null where it has none. */
async function committed({ root, base }: WorkspaceView, path: string): Promise<Uint8Array | null> {
  if (base === null) return null
  const { exitCode, stdout } = await runGit(root, ["cat-file", "blob", `${base}:${path}`], { timeoutMs: PATIENCE_MS })
  return exitCode === 0 ? stdout : null
}

async function committedKind({ root, base }: WorkspaceView, path: string): Promise<WorkspaceFile["kind"]> {
  const args = ["--literal-pathspecs", "ls-tree", "-z", base ?? "", "--", path]
  const [mode] = base === null ? [] : ((await git(root, args, PATIENCE_MS)) ?? "").split(" ")
  return KINDS.find((kind) => MODES[kind] === mode) ?? "deleted"
}

/** What has the same bytes may still be another kind of file. */
function modeChange(path: string, old: WorkspaceFile["kind"], now: WorkspaceFile["kind"]): FileChange | undefined {
  if (old === now || old === "deleted" || now === "deleted") return undefined
  const diff = `--- a/${named(path)}\n+++ b/${named(path)}\nold mode ${MODES[old]}\nnew mode ${MODES[now]}\n`
  return { path, kind: "change", diff, linesAdded: 0, linesRemoved: 0 }
}

const MODES = { file: "100644", executable: "100755", symlink: "120000", deleted: "000000" } as const
const KINDS = ["file", "executable", "symlink"] as const

async function diffOf(
  folder: string,
  path: string,
  old: Uint8Array | null,
  now: Uint8Array | null,
): Promise<FileChange | undefined> {
  if (old === null && now === null) return undefined
  // The name may be anything, a flag or a line break, so what git compares is called otherwise.
  place(folder, "a", old)
  place(folder, "b", now)
  const from = old === null ? "/dev/null" : `a/${named(path)}`
  const to = now === null ? "/dev/null" : `b/${named(path)}`
  const flags = ["diff", "--no-index", "--no-ext-diff", "--no-textconv", "--no-color", "--no-prefix"]
  const sides = [old === null ? "/dev/null" : "a", now === null ? "/dev/null" : "b"]
  const diff = await git(folder, [...flags, "--", ...sides], PATIENCE_MS)
  if (diff === undefined || diff === "") return undefined
  const lines = diff.split("\n")
  const first = lines.findIndex((line) => line.startsWith("@@"))
  const isText = !lines.some((line) => line.startsWith("Binary files "))
  const body = first === -1 ? [] : lines.slice(first)
  return {
    path,
    kind: old === null ? "create" : now === null ? "delete" : "change",
    diff: cut([`--- ${from}`, `+++ ${to}`, ...(isText ? body : ["Binary files differ"])].join("\n")),
    linesAdded: isText ? body.filter((line) => line.startsWith("+")).length : null,
    linesRemoved: isText ? body.filter((line) => line.startsWith("-")).length : null,
  }
}

/** A name that would break the line it stands in is quoted. */
const named = (path: string): string => (/[\p{Cc}"]/u.test(path) ? JSON.stringify(path) : path)

function place(folder: string, name: "a" | "b", bytes: Uint8Array | null): void {
  if (bytes !== null) writeFileSync(join(folder, name), bytes)
}

const cut = (text: string): string => (text.length <= MOST_DIFF_CHARS ? text : cutAtLine(text))

/** At the end of a line: the redactor has not looked for secrets yet, and half of one has no form. */
function cutAtLine(text: string): string {
  const end = text.lastIndexOf("\n", MOST_DIFF_CHARS - 1) + 1
  return `${text.slice(0, end)}\\ ${text.length - end} more characters are left out\n`
}
