import { createHmac, randomBytes } from "node:crypto"
import { type BigIntStats, existsSync, lstatSync, readFileSync, readlinkSync, realpathSync } from "node:fs"
import { join, relative } from "node:path"
import { git, runGit } from "./git.js"

/** The files of a work tree that differ from a commit, git's ignored ones left out. */
export interface WorkspaceView {
  /** The top of the work tree. */
  readonly root: string
  /** Where in it the command was started; empty for the top. */
  readonly folder: string
  /** The commit they differ from, the same for all views of a run: what was committed meanwhile differs from it too. Null where there was none. */
  readonly base: string | null
  /** The commit that is checked out now. */
  readonly head: string | null
  readonly branch: string | null
  readonly files: ReadonlyMap<string, WorkspaceFile>
  /** What differs and was not read, and why. */
  readonly leftOut: ReadonlyMap<string, LeftOut>
}

export interface WorkspaceFile {
  readonly kind: "file" | "executable" | "symlink" | "deleted"
  /** Equal for equal content and kind; keyed, so that it tells nothing about the content. */
  readonly hash: string
  /** The target of a link; null for a file that was deleted. */
  readonly bytes: Uint8Array | null
  /** What the file system said when it was read: while that stays the same it is not read again. */
  readonly stamp: string
}

export type LeftOut =
  | "made by tools, and not ignored by git"
  | "too large"
  | "too many"
  | "no file"
  | "unreadable"
  | "a path that is no text"

const MOST_FILES = 1_000
const MOST_FILE_BYTES = 1_000_000
const MOST_BYTES = 32_000_000
/** No user waits longer for a command to start. */
const PATIENCE_MS = 5_000

export type Looked = { readonly ok: true; readonly view: WorkspaceView } | { readonly ok: false; readonly why: string }

/** Undefined outside of a work tree. */
export async function lookAtWorkspace(folder: string): Promise<Looked | undefined> {
  const top = await runGit(folder, ["rev-parse", "--show-toplevel"], { timeoutMs: PATIENCE_MS })
  const root = top.stdout.toString("utf8").replace(/\n$/, "")
  if (top.exitCode === 0 && root !== "")
    return readTree({ root, folder: relative(root, realpathSync(folder)), patienceMs: PATIENCE_MS })
  // Where there is no git and where there is no repository nothing is expected; a repository that git refuses is worth a word.
  const isNone = top.exitCode === null || NO_WORK_TREE.test(top.said)
  return isNone ? undefined : { ok: false, why: top.said }
}

const NO_WORK_TREE = /not a git repository|must be run in a work tree|^$/

/** The same tree as it is now. Only files that the file system says were touched are read again. */
export function lookAgain(before: WorkspaceView, patienceMs: number = PATIENCE_MS): Promise<Looked> {
  return readTree({ root: before.root, folder: before.folder, before, patienceMs })
}

interface TreeToRead {
  readonly root: string
  readonly folder: string
  readonly before?: WorkspaceView
  readonly patienceMs: number
}

async function readTree({ root, folder, before, patienceMs }: TreeToRead): Promise<Looked> {
  const { exitCode, stdout, said } = await runGit(root, STATUS, { timeoutMs: patienceMs })
  if (exitCode !== 0) return { ok: false, why: exitCode === null ? `git gave no answer: ${said}` : said }
  const { head, branch, paths, madeByTools } = readStatus(stdout.toString("utf8"))
  const base = before ? before.base : head
  const committed = head === base ? [] : await committedSince(root, base, head, patienceMs)
  if (committed === undefined) return { ok: false, why: `git does not say what was committed since ${base}` }
  const all = [...new Set([...paths, ...committed])].sort()
  const files = new Map<string, WorkspaceFile>()
  const leftOut = new Map<string, LeftOut>(madeByTools.map((made) => [made, "made by tools, and not ignored by git"]))
  let left = MOST_BYTES
  for (const [at, path] of all.entries()) {
    // The proxy shares this thread and has answers to pass on.
    if (at % FILES_AT_ONCE === FILES_AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve))
    const file = at >= MOST_FILES ? "too many" : readFile(root, path, left, before?.files.get(path))
    if (typeof file === "string") leftOut.set(path, file)
    else {
      files.set(path, file)
      left -= file.bytes?.length ?? 0
    }
  }
  return { ok: true, view: { root, folder, base, head, branch, files, leftOut } }
}

const FILES_AT_ONCE = 64

async function committedSince(
  root: string,
  base: string | null,
  head: string | null,
  patienceMs: number,
): Promise<string[] | undefined> {
  if (head === null) return undefined
  const args =
    base === null ? ["ls-tree", "-r", "--name-only", "-z", head] : ["diff-tree", "-r", "--name-only", "-z", base, head]
  const names = await git(root, args, patienceMs)
  return names?.split("\0").filter((path) => path !== "")
}

function readFile(root: string, path: string, left: number, known: WorkspaceFile | undefined): WorkspaceFile | LeftOut {
  if (path.includes("\uFFFD")) return "a path that is no text"
  const place = join(root, path)
  try {
    const found = lstatSync(place, { bigint: true, throwIfNoEntry: false })
    if (found === undefined) return known?.kind === "deleted" ? known : fileOf("deleted", null, "")
    const stamp = stampOf(found)
    if (known !== undefined && stamp !== undefined && known.stamp === stamp) return known
    if (found.isSymbolicLink()) return fileOf("symlink", readlinkSync(place, { encoding: "buffer" }), stamp)
    // A folder where a file was: git tells what is in it by itself. But not of a repository, which keeps its own books.
    if (found.isDirectory() && !existsSync(join(place, ".git"))) return fileOf("deleted", null, "")
    // A pipe would be waited at for ever.
    if (!found.isFile()) return "no file"
    if (found.size > Math.min(MOST_FILE_BYTES, left)) return "too large"
    return fileOf((found.mode & 0o100n) === 0n ? "file" : "executable", readFileSync(place), stamp)
  } catch (error) {
    // A parent that is a file by now: what was below it is gone.
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return fileOf("deleted", null, "")
    return "unreadable"
  }
}

// File systems stamp with the clock's tick, so a file that was written a moment ago may be written again under the same stamp.
const TICK_NS = 20_000_000n

/** Undefined for a file that was touched so lately that its stamp cannot be relied on. */
function stampOf({ dev, ino, mode, size, mtimeNs, ctimeNs }: BigIntStats): string | undefined {
  if (BigInt(Date.now()) * 1_000_000n - ctimeNs < TICK_NS) return undefined
  return `${dev} ${ino} ${mode} ${size} ${mtimeNs} ${ctimeNs}`
}

// A plain digest of a file with a secret in it would confirm a guess of the secret. It is not compared across processes, so it needs no key.
const KEY = randomBytes(32)

function fileOf(kind: WorkspaceFile["kind"], bytes: Uint8Array | null, stamp: string | undefined): WorkspaceFile {
  const hash =
    bytes === null
      ? kind
      : `hmac:${createHmac("sha256", KEY).update(`${kind}\0`).update(bytes).digest("hex").slice(0, 32)}`
  return { kind, hash, bytes, stamp: stamp ?? "" }
}

/** Whether two views of one tree are of the same files. */
export function isSameTree(a: WorkspaceView, b: WorkspaceView): boolean {
  if (a.head !== b.head || a.branch !== b.branch) return false
  if (a.files.size !== b.files.size || a.leftOut.size !== b.leftOut.size) return false
  for (const [path, file] of b.files) if (a.files.get(path)?.hash !== file.hash) return false
  for (const path of b.leftOut.keys()) if (!a.leftOut.has(path)) return false
  return true
}

/** What `git status` says of a work tree. */
interface TreeStatus {
  /** Null in a repository without a commit. */
  readonly head: string | null
  /** Null where no branch is checked out. */
  readonly branch: string | null
  /** Whatever differs from the commit, or git does not know; a nested repository ends with a slash. */
  readonly paths: readonly string[]
  /** Folders full of files that tools fetch or make, in a repository that does not say to ignore them. Each ends with a slash. */
  readonly madeByTools: readonly string[]
}

/** Not the agent's work, and by the ten thousands: a new repository has them before it has a `.gitignore`. What git tracks of them counts. */
const MADE_BY_TOOLS =
  /^(?:.*?\/)?(?:node_modules|bower_components|\.venv|venv|__pycache__|\.tox|\.nox|\.(?:mypy|pytest|ruff)_cache|\.gradle|\.next|\.nuxt|\.turbo|\.parcel-cache|\.yarn\/cache|\.pnpm-store|\.terraform|\.orangebox)\//

const STATUS = [
  "status",
  "--porcelain=v2",
  "--branch",
  "-z",
  "--untracked-files=all",
  // A submodule is a repository of its own; git would start a process in each.
  "--ignore-submodules=dirty",
  "--no-renames",
]

/** Reads the output of `STATUS`. Names are bytes to git; one that is no UTF-8 is read as the text it comes closest to. */
function readStatus(output: string): TreeStatus {
  let head: string | null = null
  let branch: string | null = null
  const paths: string[] = []
  const madeByTools = new Set<string>()
  for (const entry of output.split("\0")) {
    if (entry.startsWith("# branch.oid ")) head = oidOf(entry.slice("# branch.oid ".length))
    else if (entry.startsWith("# branch.head ")) branch = branchOf(entry.slice("# branch.head ".length))
    else if (entry.startsWith("1 ")) paths.push(behind(entry, 8))
    else if (entry.startsWith("u ")) paths.push(behind(entry, 10))
    else if (entry.startsWith("? ")) {
      const [made] = MADE_BY_TOOLS.exec(entry.slice(2)) ?? []
      if (made === undefined) paths.push(entry.slice(2))
      else madeByTools.add(made)
    }
  }
  return { head, branch, paths, madeByTools: [...madeByTools] }
}

const oidOf = (text: string): string | null => (/^[0-9a-f]{40,64}$/.test(text) ? text : null)
const branchOf = (text: string): string | null => (text === "(detached)" ? null : text)

/** The rest of an entry behind so many words. */
function behind(entry: string, words: number): string {
  let at = 0
  for (let word = 0; word < words; word++) at = entry.indexOf(" ", at) + 1
  return entry.slice(at)
}
