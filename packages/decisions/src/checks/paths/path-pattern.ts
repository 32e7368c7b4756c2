import { compileGlob, expandChoices, type Glob, isWild, reach } from "./glob.js"
import { absoluteSegments, type LocatedPath, type PathPlace } from "./located-path.js"

export interface PathPattern {
  readonly text: string
  readonly isException: boolean
  readonly alternatives: readonly Alternative[]
}

/** What a pattern is relative to, and its segments as written and without regard to how names may be disguised. */
interface Alternative {
  readonly anchor: "inside" | "absolute" | "home"
  readonly exact: Glob
  readonly folded: Glob
  readonly loose: Glob
  /** The loose form is the exact one. */
  readonly isPlain: boolean
}

const MAX_PATTERN = 1024

/** Undefined when the pattern is too long, would mean too many things at once, or nothing. */
export function readPathPattern(text: string): PathPattern | undefined {
  if (text.length > MAX_PATTERN) return undefined
  const isException = text.startsWith("!")
  const expanded = expandChoices(isException ? text.slice(1) : text)
  if (expanded === undefined || expanded.some((one) => one === "")) return undefined
  return { text, isException, alternatives: expanded.map(alternative) }
}

function alternative(text: string): Alternative {
  const absolute = absoluteSegments(text)
  const isHome = text === "~" || text.startsWith("~/")
  const raw = absolute ?? (isHome ? text.slice(1) : text).split("/")
  const segments = raw.filter((segment) => segment !== "" && segment !== ".").map((segment) => segment.normalize("NFC"))
  return {
    anchor: absolute !== undefined ? "absolute" : isHome ? "home" : "inside",
    exact: compileGlob(segments),
    folded: compileGlob(segments.map(fold)),
    loose: compileGlob(segments.map(looseSegment)),
    isPlain: segments.every((segment) => PLAIN.test(segment)),
  }
}

/** How a path meets a set of patterns. `possible`: some of what it names may; `unknown`: nobody can tell where it leads. */
export type Meeting = "yes" | "possible" | "no" | "unknown"

/** How a path is used: one file, everything below it, or whatever a wild word matches. */
export interface Extent {
  readonly isTree: boolean
  readonly isWild: boolean
}

/** Whether the path, or something it covers, is named by a pattern. */
export function touches(
  patterns: readonly PathPattern[],
  path: LocatedPath,
  extent: Extent,
  place: PathPlace,
): Meeting {
  if (path.isAboveRoot === true && (extent.isTree || extent.isWild) && patterns.some((one) => isInWorkspace(one))) {
    return extent.isTree && !extent.isWild ? "yes" : "possible"
  }
  const named = strongest(
    patterns
      .filter((one) => !one.isException)
      .map((pattern) => meet(pattern, path, place, (glob, segments) => touchesGlob(glob, segments, extent))),
  )
  if (named === "no") return "no"
  const excepted = patterns.some((one) => one.isException && coversOne(one, path, extent, place) === "yes")
  return excepted ? "no" : named
}

const isInWorkspace = (pattern: PathPattern): boolean =>
  !pattern.isException && pattern.alternatives.some((one) => one.anchor === "inside")

/** Whether the path, and everything it covers, is named by the patterns. */
export function isCovered(
  patterns: readonly PathPattern[],
  path: LocatedPath,
  extent: Extent,
  place: PathPlace,
): Meeting {
  const covered = strongest(
    patterns.filter((one) => !one.isException).map((pattern) => coversOne(pattern, path, extent, place)),
  )
  if (covered === "no" || covered === "unknown") return covered
  const exception = strongest(
    patterns
      .filter((one) => one.isException)
      .map((pattern) => meet(pattern, path, place, (glob, segments) => touchesGlob(glob, segments, extent))),
  )
  return exception === "yes" ? "no" : exception === "no" ? covered : "possible"
}

const coversOne = (pattern: PathPattern, path: LocatedPath, extent: Extent, place: PathPlace): Meeting =>
  meet(pattern, path, place, (glob, segments) => coversGlob(glob, segments, extent))

const strongest = (meetings: readonly Meeting[]): Meeting =>
  (["yes", "possible", "unknown"] as const).find((one) => meetings.includes(one)) ?? "no"

function meet(
  pattern: PathPattern,
  path: LocatedPath,
  place: PathPlace,
  judge: (glob: Glob, segments: readonly string[]) => "yes" | "possible" | "no",
): Meeting {
  return strongest(
    pattern.alternatives.map((one): Meeting => {
      const segments = path[one.anchor]
      if (segments === undefined) return one.anchor === "inside" && path.isOutside ? "no" : "unknown"
      if (path.isDisguised === true) return judge(one.loose, segments.map(looseSegment)) === "no" ? "no" : "possible"
      const exact =
        place.isCaseInsensitive === true ? judge(one.folded, segments.map(fold)) : judge(one.exact, segments)
      if (exact === "yes" || (one.isPlain && segments.every((segment) => PLAIN.test(segment)))) return exact
      // A name that only looks or folds alike may be the same file on some file systems.
      const isDisguised = judge(one.loose, segments.map(looseSegment)) !== "no"
      const counts = isDisguised && !(place.isCaseInsensitive === false && !isMoreThanCase(segments))
      return exact === "possible" || counts ? "possible" : "no"
    }),
  )
}

const isMoreThanCase = (segments: readonly string[]): boolean =>
  segments.some((segment) => looseSegment(segment) !== fold(segment))

function touchesGlob(glob: Glob, segments: readonly string[], extent: Extent): "yes" | "possible" | "no" {
  if (extent.isWild) {
    const { fixed, wild, isTree } = splitWild(segments)
    if (reach(glob, fixed, false).acceptsBelow) return "yes"
    const reached = reach(glob, [...fixed, ...wild], true)
    return reached.accepts || ((isTree || extent.isTree) && reached.isAlive) ? "possible" : "no"
  }
  const reached = reach(glob, segments, false)
  return reached.accepts || (extent.isTree && reached.isAlive) ? "yes" : "no"
}

function coversGlob(glob: Glob, segments: readonly string[], extent: Extent): "yes" | "possible" | "no" {
  if (extent.isWild) {
    const { fixed, wild } = splitWild(segments)
    if (reach(glob, fixed, false).acceptsBelow) return "yes"
    const reached = reach(glob, [...fixed, ...wild], true)
    return reached.accepts || reached.isAlive ? "possible" : "no"
  }
  const reached = reach(glob, segments, false)
  return reached.acceptsBelow || (reached.accepts && !extent.isTree) ? "yes" : "no"
}

/** The part of a wild path that is certain, and the rest up to a `**`. */
function splitWild(segments: readonly string[]): {
  fixed: readonly string[]
  wild: readonly string[]
  isTree: boolean
} {
  const first = segments.findIndex((segment) => isWild(segment))
  if (first === -1) return { fixed: segments, wild: [], isTree: false }
  const deep = segments.findIndex((segment) => segment.includes("**"))
  return {
    fixed: segments.slice(0, first),
    wild: segments.slice(first, deep === -1 ? undefined : deep),
    isTree: deep !== -1,
  }
}

/** Nothing to fold and nothing to ignore: nearly every name there is. */
const PLAIN = /^[!-/0-9:-@[-`a-z{-~]*[!-\-/0-9:-@[-`a-z{-~]$/

const fold = (segment: string): string => segment.toLowerCase()

/**
 * A name without what some file systems and tools ignore: case, compatibility forms, invisible characters, dots and blanks at the end.
 */
function looseSegment(segment: string): string {
  if (PLAIN.test(segment)) return segment
  const plain = segment.normalize("NFKC").toLowerCase()
  const visible = plain.replace(/\p{Default_Ignorable_Code_Point}/gu, "")
  return visible === "." || visible === ".." ? visible : visible.replace(/[. ]+$/, "") || visible
}
