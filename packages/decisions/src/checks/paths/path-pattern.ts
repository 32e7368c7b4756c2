import { compileGlob, expandChoices, type Glob, isWild, reach } from "./glob.js"
import { absoluteSegments, type LocatedPath, type PathPlace } from "./located-path.js"

export interface PathPattern {
  readonly text: string
  readonly isException: boolean
  readonly alternatives: readonly Alternative[]
}

/** What a pattern is relative to, and its segments; they and those of a path are compared in the same form. */
interface Alternative {
  readonly anchor: "inside" | "absolute" | "home"
  readonly glob: (form: Form) => Glob
  /** All forms of it are one. */
  readonly isPlain: boolean
}

/** A way to take a name: as it is written, in lower case, or as it looks. */
type Form = (segment: string) => string

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
  const globs = new Map<Form, Glob>()
  return {
    anchor: absolute !== undefined ? "absolute" : isHome ? "home" : "inside",
    isPlain: isPlain(segments),
    glob: (form) => {
      const glob = globs.get(form) ?? compileGlob(segments.map(form))
      globs.set(form, glob)
      return glob
    },
  }
}

/** How a path meets a set of patterns. `possible`: some of what it names may; `unknown`: where it leads is unknown. */
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
      const inForm = (form: Form): "yes" | "possible" | "no" => judge(one.glob(form), segments.map(form))
      if (path.isDisguised === true) return inForm(asItLooks) === "no" ? "no" : "possible"
      const exact = inForm(place.isCaseInsensitive === true ? inLowerCase : asWritten)
      if (exact !== "no" || (one.isPlain && isPlain(segments))) return exact
      // A name that only looks or folds alike may be the same file on some file systems.
      const mayBeSame =
        place.isCaseInsensitive !== false || segments.some((name) => asItLooks(name) !== inLowerCase(name))
      return mayBeSame && inForm(asItLooks) !== "no" ? "possible" : "no"
    }),
  )
}

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
const isPlain = (segments: readonly string[]): boolean => segments.every((segment) => PLAIN.test(segment))

const asWritten: Form = (segment) => segment
const inLowerCase: Form = (segment) => segment.toLowerCase()

/** Without what some file systems and tools ignore: case, compatibility forms, invisible characters, dots and blanks at the end. */
const asItLooks: Form = (segment) => {
  if (PLAIN.test(segment)) return segment
  const plain = segment.normalize("NFKC").toLowerCase()
  const visible = plain.replace(/\p{Default_Ignorable_Code_Point}/gu, "")
  return visible === "." || visible === ".." ? visible : visible.replace(/[. ]+$/, "") || visible
}
