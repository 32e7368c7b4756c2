import { lstatSync, readFileSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import { bodyHash } from "@orangebox/contract"
import { git } from "./git.js"

/** The files of a work tree that differ from a commit, git's ignored ones left out. */
export interface WorkspaceView {
  /** The top of the work tree. */
  readonly root: string
  /** The commit they differ from; null in a repository without one. */
  readonly head: string | null
  readonly files: ReadonlyMap<string, WorkspaceFile>
  /** Files that differ and were not looked at, because there are too many or they are too large. */
  readonly leftOut: number
}

export interface WorkspaceFile {
  /** Of the content; `deleted` when there is none. */
  readonly hash: string
  /** Null for a file that was deleted. */
  readonly bytes: Uint8Array | null
}

const MOST_FILES = 1_000
const MOST_FILE_BYTES = 1_000_000
const MOST_BYTES = 32_000_000
/** Nobody waits longer for a command to start. */
const PATIENCE_MS = 5_000

/** Undefined outside of a work tree, and where git cannot tell in time. */
export async function lookAtWorkspace(folder: string): Promise<WorkspaceView | undefined> {
  const top = await git(folder, ["rev-parse", "--show-toplevel"], PATIENCE_MS)
  if (top === undefined || top.trim() === "") return undefined
  const root = top.replace(/\n$/, "")
  const head = (await git(root, ["rev-parse", "--verify", "--quiet", "HEAD"], PATIENCE_MS))?.trim() || null
  return viewSince(root, head)
}

/** The same tree as it is now, still held against the commit of before: what was committed meanwhile differs from it too. */
export async function viewSince(root: string, head: string | null): Promise<WorkspaceView | undefined> {
  const changed = head === null ? "" : await git(root, ["diff", "--name-only", "--no-renames", "-z", head], PATIENCE_MS)
  const others = await git(root, ["ls-files", "--others", "--exclude-standard", "-z"], PATIENCE_MS)
  const tracked = head === null ? await git(root, ["ls-files", "-z"], PATIENCE_MS) : ""
  if (changed === undefined || others === undefined || tracked === undefined) return undefined
  const paths = [...new Set(`${changed}${others}${tracked}`.split("\0").filter((path) => path !== ""))].sort()
  const files = new Map<string, WorkspaceFile>()
  let left = MOST_BYTES
  for (const path of paths.slice(0, MOST_FILES)) {
    const file = fileAt(join(root, path), left)
    if (file === undefined) continue
    files.set(path, file)
    left -= file.bytes?.length ?? 0
  }
  return { root, head, files, leftOut: paths.length - files.size }
}

/** Undefined for what is no file (a submodule, a pipe that would be waited at for ever) and for what is too large. */
function fileAt(path: string, left: number): WorkspaceFile | undefined {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined) return { hash: "deleted", bytes: null }
    if (found.isSymbolicLink()) return hashed(Buffer.from(readlinkSync(path), "utf8"))
    if (!found.isFile() || found.size > Math.min(MOST_FILE_BYTES, left)) return undefined
    return hashed(readFileSync(path))
  } catch {
    return undefined
  }
}

const hashed = (bytes: Uint8Array): WorkspaceFile => ({ hash: bodyHash(bytes), bytes })
