import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { git, gitBytes } from "./git.js"
import type { WorkspaceView } from "./look-at-workspace.js"

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
  readonly leftOut: number
}

const MOST_CHANGES = 200
const MOST_DIFF_CHARS = 256_000
/** For all of it: the command has ended, and somebody waits for the verdict. */
const PATIENCE_MS = 10_000

/** The changes between two views of one tree. */
export async function workspaceDiff(before: WorkspaceView, after: WorkspaceView): Promise<WorkspaceChanges> {
  const paths = [...new Set([...before.files.keys(), ...after.files.keys()])]
    .filter((path) => before.files.get(path)?.hash !== after.files.get(path)?.hash)
    .sort()
  const files: FileChange[] = []
  const deadline = performance.now() + PATIENCE_MS
  let compared = 0
  const folder = mkdtempSync(join(tmpdir(), "orangebox-diff-"))
  try {
    for (const path of paths.slice(0, MOST_CHANGES)) {
      if (performance.now() > deadline) break
      compared++
      // A file that one view does not list is there as the commit has it.
      const old = before.files.has(path) ? before.files.get(path)!.bytes : await committed(before, path)
      const now = after.files.has(path) ? after.files.get(path)!.bytes : await committed(before, path)
      const change = await diffOf(folder, path, old, now)
      if (change !== undefined) files.push(change)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return { files, leftOut: paths.length - compared + Math.max(before.leftOut, after.leftOut) }
}

/** A file as the commit has it; null where it has none. */
async function committed({ root, head }: WorkspaceView, path: string): Promise<Uint8Array | null> {
  if (head === null) return null
  return (await gitBytes(root, ["cat-file", "blob", `${head}:${path}`], PATIENCE_MS)) ?? null
}

async function diffOf(
  folder: string,
  path: string,
  old: Uint8Array | null,
  now: Uint8Array | null,
): Promise<FileChange | undefined> {
  if (old === null && now === null) return undefined
  const [from, to] = [place(folder, "a", path, old), place(folder, "b", path, now)]
  const flags = ["diff", "--no-index", "--no-ext-diff", "--no-textconv", "--no-color", "--no-prefix"]
  const diff = await git(folder, [...flags, "--", from, to], PATIENCE_MS)
  if (diff === undefined || diff === "") return undefined
  const lines = diff.split("\n")
  const first = lines.findIndex((line) => line.startsWith("@@"))
  const isText = first !== -1
  const body = isText ? lines.slice(first) : []
  return {
    path,
    kind: old === null ? "create" : now === null ? "delete" : "change",
    diff: cut([`--- ${from}`, `+++ ${to}`, ...(isText ? body : ["Binary files differ"])].join("\n")),
    linesAdded: isText ? body.filter((line) => line.startsWith("+")).length : null,
    linesRemoved: isText ? body.filter((line) => line.startsWith("-")).length : null,
  }
}

function place(folder: string, side: "a" | "b", path: string, bytes: Uint8Array | null): string {
  if (bytes === null) return "/dev/null"
  const name = `${side}/${path}`
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), bytes)
  return name
}

const cut = (text: string): string =>
  text.length <= MOST_DIFF_CHARS
    ? text
    : `${text.slice(0, MOST_DIFF_CHARS).toWellFormed()}\n\\ ${text.length - MOST_DIFF_CHARS} more characters are left out\n`
