import type { Action, FileEdit, RunActions } from "./action.js"
import { linesOf } from "./edits/made-edit.js"

/** What became of one file over a whole run. */
export interface NetChange {
  /** As the work tree names it, else the shortest way it was named. */
  readonly path: string
  /** Null where several edits were made and their text is not kept: together they may be fewer lines than one by one. */
  readonly linesAdded: number | null
  /** Null where it is unknown how many there were: a whole file was written over whatever stood there. */
  readonly linesRemoved: number | null
  /** The edits it is made of, in order. */
  readonly edits: readonly FileEdit[]
}

/**
 * The files that differ at the end of a run, each once. A file that the work tree was seen to change counts as the work tree shows it, whatever
 * tools were told; one that was never seen there counts as they were told, unless it stands in a tree that was looked at to the end: there
 * it is as it was, or git ignores it. A file that ends as it began is no change.
 */
export function netChanges({ actions, seenChanges = [], workTree }: Changes): NetChange[] {
  const files = new Map<string, { seen: FileEdit[]; told: FileEdit[] }>()
  for (const edit of seenChanges) fileOf(files, edit.path).seen.push(edit)
  for (const edit of actions.flatMap(({ edits }) => edits)) fileOf(files, edit.path).told.push(edit)
  return [...files].flatMap(([path, file]) => {
    if (file.seen.length === 0 && workTree && isInTree(path, workTree.root)) return []
    const edits = file.seen.length > 0 ? file.seen : file.told
    const net = netLines(edits)
    const isSame = net.linesAdded === 0 && net.linesRemoved === 0 && edits.length > 1
    return isSame ? [] : [{ path, ...net, edits }]
  })
}

export interface Changes extends Pick<RunActions, "seenChanges" | "workTree"> {
  readonly actions: readonly Pick<Action, "edits">[]
}

type Files = Map<string, { seen: FileEdit[]; told: FileEdit[] }>

/** Tools name one file in several ways: relative, from the root of the disk, with a dot before it. */
function fileOf(files: Files, named: string): { seen: FileEdit[]; told: FileEdit[] } {
  const path = plainPath(named)
  const same = [...files.keys()].find((known) => isSamePath(known, path))
  const file = (same === undefined ? undefined : files.get(same)) ?? { seen: [], told: [] }
  if (same !== undefined && same.length > path.length) files.delete(same)
  files.set(same !== undefined && same.length <= path.length ? same : path, file)
  return file
}

const plainPath = (path: string): string =>
  path
    .replaceAll("\\", "/")
    .replace(/\/{2,}/g, "/")
    .replace(/^(?:\.\/)+/, "")
    .replace(/(?:\/\.)+(?=\/)/g, "")
const isAbsolute = (path: string): boolean => /^(?:\/|~|[A-Za-z]:\/)/.test(path)

/** Whether two names, as they were told, are of one file: a relative one is where an absolute one ends. */
export function isSamePath(one: string, other: string): boolean {
  const [a, b] = [plainPath(one), plainPath(other)]
  if (a === b) return true
  if (isAbsolute(a) === isAbsolute(b)) return false
  return isAbsolute(a) ? a.endsWith(`/${b}`) : b.endsWith(`/${a}`)
}

/** A digest of a path is of one inside; what lies outside has none. */
const isInTree = (path: string, root: string | null): boolean =>
  isAbsolute(path) ? root !== null && path.startsWith(`${root.replace(/\/$/, "")}/`) : !path.startsWith("../")

/** How many lines of a file are others after all these edits of it. */
export function netLines(edits: readonly FileEdit[]): Pick<NetChange, "linesAdded" | "linesRemoved"> {
  const last = edits.at(-1)!
  if (last.net !== undefined) return { linesAdded: last.net.added, linesRemoved: last.net.removed }
  if (edits.length === 1) return { linesAdded: last.linesAdded, linesRemoved: last.linesRemoved }
  // What an edit takes away of what an earlier one put there, and the other way round, is no change of the run's.
  const added = new Lines()
  const removed = new Lines()
  const isMadeHere = edits[0]!.kind === "create"
  for (const { diff, linesAdded, linesRemoved, kind } of edits) {
    // Written as a whole or deleted: nothing of what earlier edits put there is left.
    if (linesRemoved === null) added.clear()
    if (kind === "delete" && linesRemoved === null) continue
    const lines = linesOf(diff).filter((line) => !/^(?:---|\+\+\+) /.test(line))
    const plus = lines.filter((line) => line.startsWith("+")).map((line) => line.slice(1))
    const minus = lines.filter((line) => line.startsWith("-")).map((line) => line.slice(1))
    // A diff that is not kept, or was cut, tells only how many there were, and not which.
    if (plus.length !== linesAdded || minus.length !== (linesRemoved ?? 0))
      return { linesAdded: null, linesRemoved: null }
    const [fresh, gone] = [plus.filter((line) => !removed.take(line)), minus.filter((line) => !added.take(line))]
    added.put(fresh)
    removed.put(gone)
  }
  const isWrittenOver = !isMadeHere && edits.some(({ linesRemoved }) => linesRemoved === null)
  return { linesAdded: added.count, linesRemoved: isWrittenOver ? null : removed.count }
}

class Lines {
  readonly #lines = new Map<string, number>()
  #count = 0

  get count(): number {
    return this.#count
  }

  clear(): void {
    this.#lines.clear()
    this.#count = 0
  }

  put(lines: readonly string[]): void {
    for (const line of lines) this.#lines.set(line, (this.#lines.get(line) ?? 0) + 1)
    this.#count += lines.length
  }

  take(line: string): boolean {
    const left = this.#lines.get(line) ?? 0
    if (left === 0) return false
    this.#lines.set(line, left - 1)
    this.#count--
    return true
  }
}
