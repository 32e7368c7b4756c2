import { type Advice, advice, suggested } from "@orangebox/contract"

/** What the system says when it refuses something, in words, and what helps. Its own codes say nothing to most people. */
interface Trouble {
  readonly words: string
  readonly next: string | Advice
  /** The user can put it right by typing another. */
  readonly isInput: boolean
}

const NAME_ANOTHER = "Check the path, or name another one"
const MAKE_ROOM = advice`Make room, for example with: ${suggested("prune")}`

const TROUBLES: ReadonlyMap<string, Trouble> = new Map([
  ["ENOENT", { words: "there is no such file or folder", next: NAME_ANOTHER, isInput: true }],
  ["ENOTDIR", { words: "a part of the path is a file, not a folder", next: NAME_ANOTHER, isInput: true }],
  ["EISDIR", { words: "this is a folder, not a file", next: "Name a file", isInput: true }],
  ["EEXIST", { words: "it is already there", next: "Name another one", isInput: true }],
  ["ENAMETOOLONG", { words: "the name is too long", next: NAME_ANOTHER, isInput: true }],
  ["ELOOP", { words: "its links lead in a circle", next: NAME_ANOTHER, isInput: true }],
  ["EINVAL", { words: "the system does not take it", next: NAME_ANOTHER, isInput: true }],
  [
    "EACCES",
    { words: "permission is denied", next: "Give yourself the right to it, or name another place", isInput: false },
  ],
  [
    "EPERM",
    { words: "it is not permitted", next: "Give yourself the right to it, or name another place", isInput: false },
  ],
  ["EROFS", { words: "the disk can only be read", next: "Name a place that can be written", isInput: false }],
  ["ENOSPC", { words: "the disk is full", next: MAKE_ROOM, isInput: false }],
  ["EDQUOT", { words: "the quota is used up", next: MAKE_ROOM, isInput: false }],
  ["EMFILE", { words: "too many files are open", next: "Raise the limit with: ulimit -n 4096", isInput: false }],
  ["EIO", { words: "the disk does not answer", next: "Check the disk", isInput: false }],
  ["EADDRINUSE", { words: "the address is taken", next: "Name another port", isInput: false }],
  ["ECONNREFUSED", { words: "nobody answers there", next: "Check the address", isInput: false }],
])

const MESSAGE = /\b(E[A-Z0-9]{2,14}): [a-z][^,\n]*, \w+(?: '[^']*')?(?: -> '[^']*')?/g
const CODE = /\((E[A-Z0-9]{2,14})\)/g

/** A text with the system's messages put into words. */
export function inWords(text: string): string {
  const words = (_: string, code: string): string => TROUBLES.get(code)?.words ?? "the system refuses it"
  return text.replace(MESSAGE, words).replace(CODE, (_, code: string) => `(${words(_, code)})`)
}

/** The system's own error, somewhere below what is reported of it. */
export function systemTroubleIn(error: unknown): (Trouble & { readonly path: string | null }) | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    const { code, syscall, path } = at as NodeJS.ErrnoException
    if (typeof code !== "string" || typeof syscall !== "string") continue
    const known = TROUBLES.get(code) ?? { words: "the system refuses it", next: NAME_ANOTHER, isInput: false }
    return { ...known, path: path ?? null }
  }
  return undefined
}
