import {
  constants,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path"
import { OrangeboxError } from "@orangebox/contract"
import type { NotRestored, RecordedTree, TreeFile } from "@orangebox/replay"
import { runGit } from "./git.js"
import { findMounting, type Mounting, type MountWay } from "./mounted-copy.js"

/**
 * A folder of its own with the files of a recorded work tree. It is a repository that reads the objects of the one it was made from and
 * never writes to it: no remote leads there, and no hook and no setting of it is taken over.
 */
export interface WorkspaceCopy {
  /** The top of the copy. */
  readonly root: string
  /** Where the command was started, in the copy. */
  readonly folder: string
  /** The top and that folder as a command sees them that is started in it: those of the recorded tree, where the copy can be shown there. */
  readonly seen: { readonly root: string; readonly folder: string }
  /** Starts a command so that it finds the copy where the recorded tree stood; undefined where this system cannot do that. */
  readonly mounting: Mounting | undefined
  /** Makes its files those of this tree; what git ignores stays as it is. Returns what could not be written. */
  set(tree: RecordedTree): Promise<readonly NotRestored[]>
  remove(): void
}

const PATIENCE_MS = 120_000

/** The first of these folders whose repository has the commits of the trees. Null where none is needed, because nothing was committed. */
export async function findRepository(
  trees: readonly RecordedTree[],
  folders: readonly string[],
): Promise<string | null | undefined> {
  const commits = [...new Set(trees.flatMap(({ base }) => base ?? []))]
  if (commits.length === 0) return null
  for (const folder of folders) {
    if (!existsSync(folder)) continue
    const top = (await answered(folder, ["rev-parse", "--show-toplevel"]))?.replace(/\n$/, "")
    if (!top) continue
    const found = await Promise.all(
      commits.map((commit) => runGit(top, ["cat-file", "-e", `${commit}^{commit}`], { timeoutMs: PATIENCE_MS })),
    )
    if (found.every(({ exitCode }) => exitCode === 0)) return top
  }
  return undefined
}

/**
 * What git ignores in a work tree, and so is in no snapshot of it: dependencies, build results, local settings. A data folder is not among
 * it; it ignores itself from within, so git names its files one by one.
 */
export async function ignoredIn(repository: string): Promise<string[]> {
  const args = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"]
  const names = ((await answered(repository, args)) ?? "").split("\0").filter((name) => name !== "")
  return names.map((name) => name.replace(/\/$/, "")).filter((name) => !name.split("/").includes(".orangebox"))
}

export interface CopyOptions {
  /** Folders that stay where and what they are, also where the copy is shown in the place of the tree around them. */
  readonly kept?: readonly string[]
  /** The ways to show it there. */
  readonly ways?: readonly MountWay[]
}

/** Makes the copy, empty yet. */
export async function openWorkspaceCopy(
  repository: string | null,
  tree: RecordedTree,
  options: CopyOptions = {},
): Promise<WorkspaceCopy> {
  // Programs that ask for their folder are told where it really is.
  const parent = mkdtempSync(join(realpathSync(tmpdir()), "orangebox-fork-"))
  const remove = (): void => rmSync(parent, { recursive: true, force: true, maxRetries: 3 })
  try {
    const name = basename(tree.root)
    const root = join(parent, /^[\w][\w .-]{0,100}$/.test(name) ? name : "workspace")
    mkdirSync(root)
    const format = tree.base?.length === 64 ? ["--object-format=sha256"] : []
    await mustRun(root, ["-c", "init.defaultBranch=main", "init", "--quiet", "--template=", ...format])
    const lent = repository === null ? [] : [await leanOn(repository, root, join(parent, "objects"))]
    const kept = (options.kept ?? []).filter((path) => path.startsWith(`${tree.root}/`))
    for (const path of kept) mkdirSync(join(root, relative(tree.root, path)), { recursive: true })
    const original = { original: tree.root, folder: join(tree.root, tree.folder) }
    const mounting = await findMounting({ copy: root, kept, lent, ...original }, options.ways)
    const folder = join(root, tree.folder)
    const seen = mounting ? { root: tree.root, folder: original.folder } : { root, folder }
    return {
      root,
      folder,
      seen,
      mounting,
      async set(next) {
        const problems = await setTree({ root, index: join(parent, "index"), seenRoot: seen.root }, next)
        // Git knows no empty folders, and a command may well have been started in one.
        const why = tree.folder === "" ? undefined : makeFolders(root, tree.folder.split("/"))
        if (why !== undefined) throw failed(`${tree.folder}: ${why}`)
        return problems
      },
      remove,
    }
  } catch (error) {
    remove()
    throw error
  }
}

/** Copies what git ignores, as it is now, but no data folder. */
export function copyIgnored(repository: string, names: readonly string[], copy: WorkspaceCopy): void {
  for (const name of names) {
    cpSync(join(repository, name), join(copy.root, name), {
      recursive: true,
      verbatimSymlinks: true,
      // A folder that holds nothing but ignored files is named as a whole, with a data folder somewhere in it.
      filter: (from) => basename(from) !== ".orangebox",
      mode: constants.COPYFILE_FICLONE,
    })
  }
}

/**
 * Where the copy is shown in the place of the repository, the path of the objects is the copy's own, which git passes over; they are lent to
 * it at a second place then.
 */
async function leanOn(
  repository: string,
  root: string,
  lentAt: string,
): Promise<{ readonly from: string; readonly at: string }> {
  const [objects, shallow] = await Promise.all(
    ["objects", "shallow"].map(async (name) =>
      (await mustRun(repository, ["rev-parse", "--path-format=absolute", "--git-path", name])).replace(/\n$/, ""),
    ),
  )
  if (/^["#]|\n/.test(objects!)) throw failed(`git cannot be told of a folder with such a name: ${objects}`)
  mkdirSync(lentAt)
  writeFileSync(join(root, ".git/objects/info/alternates"), `${objects}\n${lentAt}\n`)
  if (existsSync(shallow!)) copyFileSync(shallow!, join(root, ".git/shallow"))
  await takeSettings(repository, root)
  await takeRefs(repository, root)
  return { from: objects!, at: lentAt }
}

// Only what decides how files look in the work tree, and who commits; nothing that names a program or a place.
const SETTINGS = "^(core\\.(autocrlf|eol|filemode|ignorecase|symlinks)|user\\.(name|email))$"

async function takeSettings(repository: string, root: string): Promise<void> {
  const found = (await answered(repository, ["config", "--local", "-z", "--get-regexp", SETTINGS])) ?? ""
  for (const entry of found.split("\0").filter((text) => text !== "")) {
    const at = entry.indexOf("\n")
    if (at > 0) await mustRun(root, ["config", entry.slice(0, at), entry.slice(at + 1)])
  }
}

/** Branches and tags are what they are today; what they were was not recorded. */
async function takeRefs(repository: string, root: string): Promise<void> {
  const format = "--format=create %(refname)%00%(objectname)%00"
  const list = await answered(repository, ["for-each-ref", format, "refs/heads", "refs/tags", "refs/remotes"])
  if (list)
    await runGit(root, ["update-ref", "--stdin", "-z"], {
      timeoutMs: PATIENCE_MS,
      input: list.replaceAll("\0\n", "\0"),
    })
}

interface TreePlace {
  readonly root: string
  /** An index beside the copy. */
  readonly index: string
  /** Where the agent that works in it sees its top. */
  readonly seenRoot: string
}

async function setTree(place: TreePlace, tree: RecordedTree): Promise<readonly NotRestored[]> {
  const { root, index } = place
  // An index of our own: the agent's says what it has staged.
  const env = { GIT_INDEX_FILE: index }
  rmSync(index, { force: true })
  await mustRun(root, ["read-tree", tree.base ?? "--empty"], env)
  await runGit(root, ["update-index", "-q", "--refresh"], { timeoutMs: PATIENCE_MS, env })
  await mustRun(root, ["checkout-index", "--all", "--force", "--quiet"], env)
  const others = await mustRun(root, ["ls-files", "--others", "--exclude-standard", "-z"], env)
  const wanted = new Set(tree.files.map(({ path }) => path))
  for (const path of others.split("\0")) {
    if (path !== "" && !wanted.has(path)) rmSync(join(root, path), { recursive: true, force: true })
  }
  const problems: NotRestored[] = []
  // What was deleted goes first: a folder may stand where a file or a link was.
  for (const file of [...tree.files].sort((a, b) => Number(b.kind === "deleted") - Number(a.kind === "deleted"))) {
    const why = writeInto(root, file)
    if (why !== undefined) problems.push({ path: file.path, why })
  }
  return [...problems, ...(await committedOddities(place, env, tree)), ...(await setHead(root, tree))]
}

/**
 * What a commit has that a copy cannot have as it was. A submodule is a repository of its own, which the recorder does not look into. A committed link by
 * a full path into the original tree would lead an agent that writes through it there, so it is made to lead into the copy, unless that is what is
 * seen there.
 */
async function committedOddities(
  { root, seenRoot }: TreePlace,
  env: Record<string, string>,
  tree: RecordedTree,
): Promise<NotRestored[]> {
  const entries = (await mustRun(root, ["ls-files", "--stage", "-z"], env)).split("\0")
  return entries.flatMap((entry) => {
    const path = entry.slice(entry.indexOf("\t") + 1)
    if (entry.startsWith("160000 ")) return [{ path, why: "a submodule: its folder is empty" }]
    const place = join(root, path)
    if (!entry.startsWith("120000 ") || !lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()) return []
    const target = readlinkSync(place)
    if (target.startsWith(`${tree.root}/`)) {
      if (seenRoot === tree.root) return []
      unlinkSync(place)
      symlinkSync(join(root, target.slice(tree.root.length)), place)
      return []
    }
    const leads = relative(root, resolve(dirname(place), target))
    return leads.startsWith("..") || isAbsolute(leads)
      ? [{ path, why: "a committed link that leads out of the tree" }]
      : []
  })
}

async function setHead(root: string, { base, head, branch }: RecordedTree): Promise<readonly NotRestored[]> {
  const isThere = head === null || (await answered(root, ["cat-file", "-e", `${head}^{commit}`])) !== undefined
  const commit = isThere ? head : base
  const ref = `refs/heads/${branch}`
  const isName = branch !== null && (await answered(root, ["check-ref-format", ref])) !== undefined
  if (isName) await mustRun(root, ["symbolic-ref", "HEAD", ref])
  if (commit === null) await mustRun(root, ["read-tree", "--empty"])
  else {
    await mustRun(root, isName ? ["update-ref", ref, commit] : ["update-ref", "--no-deref", "HEAD", commit])
    await mustRun(root, ["read-tree", commit])
    await runGit(root, ["update-index", "-q", "--refresh"], { timeoutMs: PATIENCE_MS })
  }
  return isThere ? [] : [{ path: "HEAD", why: `the commit ${head} is gone` }]
}

/** Returns why the file was not written. Nothing here follows a link. */
function writeInto(root: string, { path, kind, bytes }: TreeFile): string | undefined {
  const blocked = makeFolders(root, path.split("/").slice(0, -1), kind !== "deleted")
  if (blocked !== undefined) return kind === "deleted" ? undefined : blocked
  const place = join(root, path)
  const found = lstatSync(place, { throwIfNoEntry: false })
  if (found?.isDirectory()) {
    // What was deleted and is a folder now shows in the files in it.
    if (kind !== "deleted") rmSync(place, { recursive: true })
  } else if (found !== undefined) unlinkSync(place)
  if (bytes === null) return undefined
  if (kind === "symlink") symlinkSync(Buffer.from(bytes), place)
  else writeFileSync(place, bytes, { flag: "wx", mode: kind === "executable" ? 0o777 : 0o666 })
  return undefined
}

/** Returns why not, where something else is in the way. */
function makeFolders(root: string, parts: readonly string[], isMissingMade = true): string | undefined {
  let at = root
  for (const part of parts) {
    at = join(at, part)
    const found = lstatSync(at, { throwIfNoEntry: false })
    if (found === undefined && !isMissingMade) return "its folder is not there"
    if (found === undefined) mkdirSync(at)
    else if (!found.isDirectory()) return "a file or a link stands where its folder was"
  }
  return undefined
}

async function mustRun(cwd: string, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { exitCode, stdout, said } = await runGit(cwd, args, { timeoutMs: PATIENCE_MS, env })
  if (exitCode !== 0) throw failed(`git ${args.find((word) => /^[a-z]/.test(word)) ?? ""}: ${said}`)
  return stdout.toString("utf8")
}

/** What git says, where it does not say no. */
async function answered(cwd: string, args: readonly string[]): Promise<string | undefined> {
  const { exitCode, stdout } = await runGit(cwd, args, { timeoutMs: PATIENCE_MS })
  return exitCode === 0 ? stdout.toString("utf8") : undefined
}

const failed = (what: string): OrangeboxError =>
  new OrangeboxError("WORKSPACE", {
    what: `the recorded work tree cannot be made again: ${what}`,
    next: "Fork without it: --no-workspace",
  })
