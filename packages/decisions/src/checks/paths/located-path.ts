import { isWild } from "./glob.js"

/** What is known about the place paths are relative to. */
export interface PathPlace {
  /** The workspace folder, absolute. Without it an absolute path cannot be told inside or outside. */
  readonly root?: string | undefined
  /** The home folder that `~` names, absolute. */
  readonly home?: string | undefined
  /** True on file systems where `Infra` and `infra` are one folder; unknown when left out. */
  readonly isCaseInsensitive?: boolean | undefined
  /**
   * Follows symbolic links: takes a path as it is written (relative to the root, or absolute) and answers where it really leads; undefined
   * when that is not known.
   */
  readonly resolvePath?: ((path: string) => string | undefined) | undefined
}

/** A path told in the ways patterns ask for. A way that is missing is not known, unless `isOutside` says that it cannot be. */
export interface LocatedPath {
  /** Segments below the workspace root. */
  readonly inside?: readonly string[]
  readonly absolute?: readonly string[]
  /** Segments below the home folder. */
  readonly home?: readonly string[]
  readonly isOutside: boolean
  /** The workspace lies below it, so everything in the workspace does. */
  readonly isAboveRoot?: boolean
  /** One of two readings, of which the other may be the right one. */
  readonly isDisguised?: true
}

/** No system has longer ones. */
const MAX_PATH = 4096
const LOOKS_LIKE_SLASH = /[\u2044\u2215\u29f8\uff0f\uff3c\u2216\u29f5]/g

/** Everywhere a path may lead: as written, with backslashes as separators, and through links. Undefined when it cannot be read as a path. */
export function locatePath(raw: string, place: PathPlace): readonly LocatedPath[] | undefined {
  const path = withoutFileScheme(raw)
  if (path === undefined || path === "" || path.includes("\0") || path.length > MAX_PATH) return undefined
  const written = path.includes("\\") ? [path, path.replaceAll("\\", "/")] : [path]
  const located = written.map((one) => locate(one, place))
  // A backslash is a separator on one system and a character on others; where the root does not tell, either reading may be the right one.
  if (written.length > 1) {
    if (/^[A-Za-z]:/.test(place.root ?? "")) located.shift()
    else located[0] = { ...located[0]!, isDisguised: true }
  }
  const plain = written.at(-1)!.replace(LOOKS_LIKE_SLASH, "/")
  if (plain !== written.at(-1)) located.push({ ...locate(plain, place), isDisguised: true })
  const resolved = place.resolvePath?.(written.at(-1)!)
  if (resolved !== undefined) located.push(locate(resolved, place))
  return located
}

function withoutFileScheme(raw: string): string | undefined {
  const match = /^file:(?:\/\/(?:localhost)?)?(?=\/)/i.exec(raw)
  if (match === null) return raw
  try {
    return decodeURIComponent(raw.slice(match[0].length))
  } catch {
    return undefined
  }
}

interface Folders {
  readonly root: readonly string[] | undefined
  readonly home: readonly string[] | undefined
}
const knownFolders = new WeakMap<PathPlace, Folders>()

/** The folders of a place, split once: thousands of paths are told from them. */
function foldersOf(place: PathPlace): Folders {
  const known = knownFolders.get(place)
  if (known !== undefined) return known
  const folders = {
    root: place.root === undefined ? undefined : absoluteSegments(place.root),
    home: place.home === undefined ? undefined : absoluteSegments(place.home),
  }
  knownFolders.set(place, folders)
  return folders
}

function locate(path: string, place: PathPlace): LocatedPath {
  const { root, home } = foldersOf(place)
  const isHome = path === "~" || path.startsWith("~/")
  // `~name` is the home of another user: a place that is not known here.
  if (!isHome && /^~(?!~)/.test(path)) return { isOutside: false }
  if (isAbsolute(path)) return locateAbsolute(rawAbsolute(path), root, home)
  const names = (isHome ? path.slice(1) : path).split("/")
  const folder = isHome ? home : root
  if (folder !== undefined) return locateAbsolute([...folder, ...names], root, home)
  const below = normalSegments(names)
  if (below !== undefined) return { [isHome ? "home" : "inside"]: below, isOutside: false }
  // It climbs out of a folder whose own name is not known; unless it only climbs, it may climb back in.
  const onlyClimbs = !isHome && names.every((segment) => segment === ".." || segment === "." || segment === "")
  return onlyClimbs ? { isOutside: true, isAboveRoot: true } : { isOutside: false }
}

function locateAbsolute(
  raw: readonly string[],
  root: readonly string[] | undefined,
  home: readonly string[] | undefined,
): LocatedPath {
  const absolute = normalSegments(raw, true)!
  const below = root === undefined ? undefined : segmentsBelow(absolute, root)
  const belowHome = home === undefined ? undefined : segmentsBelow(absolute, home)
  return {
    absolute,
    ...(below !== undefined && { inside: below }),
    ...(belowHome !== undefined && { home: belowHome }),
    isOutside: root !== undefined && below === undefined,
    ...(root !== undefined && below === undefined && { isAboveRoot: leadsTo(absolute, root) }),
  }
}

/** Whether a path, up to where it becomes wild, is a folder above another. */
function leadsTo(path: readonly string[], folder: readonly string[]): boolean {
  const wild = path.findIndex((segment) => isWild(segment))
  const fixed = wild === -1 ? path : path.slice(0, wild)
  return segmentsBelow(folder, fixed) !== undefined
}

function segmentsBelow(path: readonly string[], folder: readonly string[]): readonly string[] | undefined {
  return folder.every((segment, index) => path[index] === segment) ? path.slice(folder.length) : undefined
}

const isAbsolute = (path: string): boolean => path.startsWith("/") || /^[A-Za-z]:(?:[\\/]|$)/.test(path)

export const absoluteSegments = (path: string): readonly string[] | undefined =>
  isAbsolute(path) ? normalSegments(rawAbsolute(path), true) : undefined

function rawAbsolute(path: string): readonly string[] {
  const segments = path.replace(/^([A-Za-z]):/, (_, drive: string) => `${drive.toUpperCase()}:`)
  return (/^[A-Za-z]:/.test(path) ? segments.replaceAll("\\", "/") : segments).split("/")
}

/** Dots and empty segments resolved; undefined when the path climbs above where it began. */
function normalSegments(segments: readonly string[], isAtTop = false): readonly string[] | undefined {
  const normal: string[] = []
  for (const segment of segments) {
    if (segment === "" || segment === ".") continue
    if (segment !== "..") normal.push(segment.normalize("NFC"))
    else if (normal.length > 0) normal.pop()
    else if (!isAtTop) return undefined
  }
  return normal
}

/**
 * Follows the links of a map (`{ "src/vendor": "../infra" }`, paths from the root, targets as in a link) segment by segment, as a kernel
 * would: `..` behind a link leads out of the link's target.
 */
export function followLinks(links: ReadonlyMap<string, string>): (path: string) => string | undefined {
  return (path) => {
    const isAbsolute = path.startsWith("/")
    const done: string[] = []
    const waiting = path.split("/").reverse()
    let hops = 0
    while (waiting.length > 0) {
      const segment = waiting.pop()!
      if (segment === "" || segment === ".") continue
      if (segment === "..") {
        // Above the root a relative path goes on with dots, for the reader to judge.
        if (done.length > 0 && done.at(-1) !== "..") done.pop()
        else if (!isAbsolute) done.push("..")
        continue
      }
      done.push(segment)
      const target = links.get((isAbsolute ? "/" : "") + done.join("/"))
      if (target === undefined) continue
      if (++hops > MAX_HOPS) return undefined
      done.pop()
      if (target.startsWith("/")) {
        return followLinks(links)([target, ...waiting.reverse()].join("/"))
      }
      waiting.push(...target.split("/").reverse())
    }
    return (isAbsolute ? "/" : "") + done.join("/")
  }
}

const MAX_HOPS = 40
