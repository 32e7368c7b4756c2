import type { Action, FileEdit } from "./action.js"
import { linesOf } from "./edits/made-edit.js"

/** What became of one file over a whole run. */
export interface NetChange {
  /** As the work tree names it, else the shortest way it was named. */
  readonly path: string
  readonly linesAdded: number
  /** Null where nobody knows how many there were: a whole file was written over whatever stood there. */
  readonly linesRemoved: number | null
  /** The edits it is made of, in order. */
  readonly edits: readonly FileEdit[]
}

/**
 * The files that differ at the end of a run, each once. A file that the work tree was seen to change counts as the work tree shows it, whatever
 * tools were told; one that was never seen there counts as they were. A file that ends as it began is no change.
 *
 * @param seen what looks at the work tree found, in order
 */
export function netChanges(actions: readonly Pick<Action, "edits">[], seen: readonly FileEdit[] = []): NetChange[] {
  const files = new Map<string, { seen: FileEdit[]; told: FileEdit[] }>()
  for (const edit of seen) fileOf(files, edit.path).seen.push(edit)
  for (const edit of actions.flatMap(({ edits }) => edits)) fileOf(files, edit.path).told.push(edit)
  return [...files].flatMap(([path, file]) => {
    const edits = file.seen.length > 0 ? file.seen : file.told
    const net = netOf(edits)
    const isSame = net.linesAdded === 0 && net.linesRemoved === 0 && edits.length > 1
    return isSame ? [] : [{ path, ...net, edits }]
  })
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

function netOf(edits: readonly FileEdit[]): Pick<NetChange, "linesAdded" | "linesRemoved"> {
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
    // A diff that is not kept, or was cut, tells only how many there were.
    if (plus.length !== linesAdded || minus.length !== (linesRemoved ?? 0)) {
      added.unread += linesAdded
      removed.unread += linesRemoved ?? 0
      continue
    }
    const [fresh, gone] = [plus.filter((line) => !removed.take(line)), minus.filter((line) => !added.take(line))]
    added.put(fresh)
    removed.put(gone)
  }
  const isWrittenOver = !isMadeHere && edits.some(({ linesRemoved }) => linesRemoved === null)
  return { linesAdded: added.count, linesRemoved: isWrittenOver ? null : removed.count }
}

class Lines {
  readonly #lines = new Map<string, number>()
  unread = 0
  #count = 0

  get count(): number {
    return this.#count + this.unread
  }

  clear(): void {
    this.#lines.clear()
    this.#count = 0
    this.unread = 0
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
