/** What `git status` says of a work tree. */
export interface TreeStatus {
  /** Null in a repository without a commit. */
  readonly head: string | null
  /** Null where no branch is checked out. */
  readonly branch: string | null
  /** Whatever differs from the commit, or git does not know; a nested repository ends with a slash. */
  readonly paths: readonly string[]
}

export const STATUS = [
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
export function readStatus(output: string): TreeStatus {
  let head: string | null = null
  let branch: string | null = null
  const paths: string[] = []
  for (const entry of output.split("\0")) {
    if (entry.startsWith("# branch.oid ")) head = oidOf(entry.slice("# branch.oid ".length))
    else if (entry.startsWith("# branch.head ")) branch = branchOf(entry.slice("# branch.head ".length))
    else if (entry.startsWith("1 ")) paths.push(behind(entry, 8))
    else if (entry.startsWith("u ")) paths.push(behind(entry, 10))
    else if (entry.startsWith("? ")) paths.push(entry.slice(2))
  }
  return { head, branch, paths }
}

const oidOf = (text: string): string | null => (/^[0-9a-f]{40,64}$/.test(text) ? text : null)
const branchOf = (text: string): string | null => (text === "(detached)" ? null : text)

/** The rest of an entry behind so many words. */
function behind(entry: string, words: number): string {
  let at = 0
  for (let word = 0; word < words; word++) at = entry.indexOf(" ", at) + 1
  return entry.slice(at)
}
