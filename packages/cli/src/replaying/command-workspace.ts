import { existsSync, realpathSync } from "node:fs"
import { isAbsolute, relative, resolve } from "node:path"
import { InputError } from "@orangebox/contract"
import { copyIgnored, findRepository, ignoredIn, openWorkspaceCopy, type WorkspaceCopy } from "@orangebox/proxy"
import { dataPath, type ReplaySource } from "@orangebox/reader"
import {
  type Fork,
  type ForkWorkspace,
  firstTree,
  type MovedTree,
  type RecordedTree,
  type Tape,
  type TapeCall,
  workspaceAt,
} from "@orangebox/replay"
import { plural, safeText } from "@orangebox/text"
import type { GlobalOptions, Session } from "../session.js"

export interface WorkspaceOptions {
  /** False with `--no-workspace`. */
  readonly workspace?: boolean
  readonly keepWorkspace?: boolean
  readonly copyIgnored?: boolean
}

/** Where the command of a fork is started. */
export interface ForkedWorkspace {
  /** As the fork tells it. */
  readonly told: ForkWorkspace
  /** The snapshot of the forked call; null where the command runs in place. */
  readonly snapshotId: string | null
  /** A copy of its own for every sample; undefined where the command runs in place. */
  readonly open: (() => Promise<SampleCopy>) | undefined
  /** A word of the command, for where it is started: a path that leads out of the tree means the file it means here. */
  word(text: string): string
}

export interface SampleCopy {
  readonly copy: WorkspaceCopy
  readonly moved: MovedTree | null
  /** Makes the files what they were when the forked call was asked; undefined where the work tree was not looked at then. */
  readonly atFork: (() => Promise<void>) | undefined
  /** Returns where it is, if it stays. */
  close(): string | null
}

/** Said before the command runs, too: it does its work here and now. */
function inPlace({ terminal }: Session, why: string): ForkedWorkspace {
  terminal.say(`orangebox: forked without workspace, the command runs in ${process.cwd()}: ${why}`)
  return { told: { isRestored: false, why }, snapshotId: null, open: undefined, word: (text) => text }
}

/**
 * Finds the files of a forked call and tries to make them again, so that what cannot be is known before anything runs. The agent starts
 * from the files its run began with, for it does its own work up to the fork again; there the files are made exactly those of the recording.
 * Where the work tree was not looked at for that call they stay what the agent has made of them.
 */
export async function forkedWorkspace(
  session: Session,
  options: WorkspaceOptions & GlobalOptions,
  source: ReplaySource,
  fork: Fork,
): Promise<ForkedWorkspace> {
  if (options.workspace === false) return inPlace(session, "--no-workspace was given")
  const { tape } = source
  const at = workspaceAt(source.recording.events, tape.bodies, fork.call)
  if (!at.found) return inPlace(session, at.why)
  const { start, cut } = at
  const repository = await repositoryOf(source, cut ? [start, cut] : [start])
  if (repository === undefined) return inPlace(session, nowhere(cut ?? start))

  const copies = await copiesOf(repository, start, options)
  let rehearsed: WorkspaceCopy | undefined = await copies.make()
  process.once("exit", () => rehearsed?.remove())
  const isRunAgain = (call: TapeCall): boolean => !fork.isCut(call.stepId)
  const problems = await orRemoved(rehearsed, async () => {
    refuseFullPaths(tape, isRunAgain, otherRoots(rehearsed!, start, repository))
    return cut ? await rehearsed!.set(cut) : [NOT_LOOKED_AT]
  })
  session.terminal.say(`orangebox: ${workspaceWords(cut ?? start, copies.left)}`)
  sayMoved(session, movedTo(rehearsed, start))
  return {
    told: { isRestored: true, notRestored: [...(cut ?? start).notRestored, ...problems] },
    snapshotId: cut?.snapshotId ?? null,
    word: (text) => fullPath(text, repository ?? start.root),
    open: async () => {
      const copy = rehearsed ?? (await copies.make())
      rehearsed = undefined
      await copy.set(start)
      const atFork = cut ? async () => void (await copy.set(cut)) : undefined
      return { copy, moved: movedTo(copy, start), atFork, close: () => closed(copy, options) }
    },
  }
}

/** What git ignores and a copy for this fork would therefore not have; nothing where there would be no copy. */
export async function ignoredLeft(
  options: WorkspaceOptions & GlobalOptions,
  source: ReplaySource,
  fork: Fork,
): Promise<readonly string[]> {
  const at = workspaceAt(source.recording.events, source.tape.bodies, fork.call)
  if (options.workspace === false || !at.found) return []
  const repository = await repositoryOf(source, at.cut ? [at.start, at.cut] : [at.start])
  return repository ? await ignoredIn(repository) : []
}

const NOT_LOOKED_AT = {
  path: ".",
  why: "nobody looked at the files when the call was asked; they are what the agent makes of those it began with",
} as const

async function orRemoved<T>(copy: WorkspaceCopy, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    copy.remove()
    throw error
  }
}

/** The command of a replay in a copy of the work tree, with the files its run began with. */
export interface ReplayedWorkspace {
  readonly copy: WorkspaceCopy
  readonly moved: MovedTree | null
  word(text: string): string
  /** Returns where it is, if it stays. */
  close(): string | null
}

/** Refuses where there is no such tree: a user who asks for it does not want the command to run anywhere else. */
export async function replayedWorkspace(
  session: Session,
  options: WorkspaceOptions & GlobalOptions,
  source: ReplaySource,
): Promise<ReplayedWorkspace> {
  const { run, tape } = source
  const start = firstTree(source.recording.events, tape.bodies)
  const refused = (what: string): InputError =>
    new InputError("NO_WORKSPACE", { what, where: run.row.runId, next: "Leave --workspace away to start it here" })
  if (start === undefined) throw refused("no work tree was recorded with the run, or its snapshot was not kept")
  const repository = await repositoryOf(source, [start])
  if (repository === undefined) throw refused(nowhere(start))
  const copies = await copiesOf(repository, start, options)
  const copy = await copies.make()
  process.once("exit", () => closed(copy, options))
  const problems = await orRemoved(copy, async () => {
    refuseFullPaths(tape, () => true, otherRoots(copy, start, repository))
    return copy.set(start)
  })
  session.terminal.say(`orangebox: ${workspaceWords(start, copies.left)}`)
  const moved = movedTo(copy, start)
  sayMoved(session, moved)
  for (const { path, why } of [...start.notRestored, ...problems])
    session.terminal.say(`orangebox: not as it was: ${safeText(path)} (${why})`)
  return {
    copy,
    moved,
    word: (text) => fullPath(text, repository ?? start.root),
    close: () => closed(copy, options),
  }
}

/** A file from elsewhere names folders of elsewhere. */
function repositoryOf(source: ReplaySource, trees: readonly RecordedTree[]): Promise<string | null | undefined> {
  const isFromHere = source.file === undefined
  return findRepository(trees, [process.cwd(), ...(isFromHere ? trees.slice(-1).map(({ root }) => root) : [])])
}

const nowhere = ({ base }: RecordedTree): string =>
  `the commit ${base?.slice(0, 12)} is in no repository here, start it in a checkout that has it`

async function copiesOf(
  repository: string | null,
  start: RecordedTree,
  options: WorkspaceOptions & GlobalOptions,
): Promise<{ readonly left: readonly string[]; make(): Promise<WorkspaceCopy> }> {
  const ignored = repository === null ? [] : await ignoredIn(repository)
  const home = process.env["ORANGEBOX_HOME"]
  const data = [dataPath(options.data), ...(home ? [resolve(home)] : [])].filter((path) => existsSync(path))
  // A recorded root is where the folder really is.
  const kept = [...new Set(data.map((path) => realpathSync(path)))]
  return {
    left: options.copyIgnored ? [] : ignored,
    make: async () => {
      const copy = await openWorkspaceCopy(repository, start, { kept })
      if (options.copyIgnored && repository !== null) copyIgnored(repository, ignored, copy)
      return copy
    },
  }
}

function closed(copy: WorkspaceCopy, { keepWorkspace }: WorkspaceOptions): string | null {
  if (keepWorkspace) return copy.root
  copy.remove()
  return null
}

function fullPath(text: string, root: string): string {
  if (isAbsolute(text) || !text.includes("/")) return text
  const place = resolve(text)
  const isOutside = relative(root, place).startsWith("..")
  return isOutside && existsSync(place) ? place : text
}

const SHOWN_IGNORED = 5

function workspaceWords(cut: RecordedTree, left: readonly string[]): string {
  const commit = cut.base === null ? "no commit" : `commit ${cut.base.slice(0, 12)}`
  const words = `it runs in a copy of the work tree: ${commit} and ${plural(cut.files.length, "file")} that differed`
  if (left.length === 0) return words
  const named = left.slice(0, SHOWN_IGNORED).map(safeText).join(", ")
  const more = left.length > SHOWN_IGNORED ? ` and ${left.length - SHOWN_IGNORED} more` : ""
  return `${words}; without what git ignores (${named}${more}), which --copy-ignored copies as it is now`
}

/** Where the recorded tree is found instead, when the system cannot show it in its place. */
const movedTo = ({ seen }: WorkspaceCopy, { root }: RecordedTree): MovedTree | null =>
  seen.root === root ? null : { from: root, to: seen.root }

function sayMoved({ terminal }: Session, moved: MovedTree | null): void {
  if (moved)
    terminal.say(
      `orangebox: this system cannot show the copy at ${safeText(moved.from)}; in what is asked and answered that path is written as ${moved.to}. A path that the agent knows from elsewhere leads to the original`,
    )
}

/** Folders whose files a command in the copy would still reach by their full path. */
const otherRoots = ({ seen }: WorkspaceCopy, { root }: RecordedTree, repository: string | null): string[] =>
  repository === null || repository === root || repository === seen.root ? [] : [repository]

/** Recorded answers are given as they were. Where they name files by their full path, tools go to the original and not to the copy. */
function refuseFullPaths(tape: Tape, isRunAgain: (call: TapeCall) => boolean, roots: readonly string[]): void {
  const needles = roots.filter((root) => root.length > 1).map((root) => Buffer.from(JSON.stringify(root).slice(1, -1)))
  const named = tape.calls.filter((call) => {
    if (call.kind !== "tool" || !isRunAgain(call) || call.request.body === null) return false
    const bytes = tape.bodies.get(call.request.body.hash)
    return bytes !== undefined && needles.some((needle) => Buffer.from(bytes).includes(needle))
  })
  if (named.length === 0) return
  throw new InputError("WORKSPACE_PATHS", {
    what: `tool calls that would run again name files of the work tree by their full path (${named.length} of them), and so would go to the original and not to a copy`,
    where: tape.runId,
    next: "Start it in place, in a checkout that may be changed: fork --no-workspace, replay without --workspace",
  })
}
