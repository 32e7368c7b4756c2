import type { EvidencePointer } from "../../action.js"
import { locatePath } from "../paths/located-path.js"
import { isCovered, type Meeting, type PathPattern, readPathPattern, touches } from "../paths/path-pattern.js"
import type { PreparedAction, TouchedPlace } from "../prepared-action.js"
import {
  type Answer,
  type ArgumentProblem,
  type CheckContext,
  defineRule,
  type Finding,
  type RuleDefinition,
  unknownOption,
} from "../rule.js"
import type { RuleText } from "../rule-text.js"

interface PathsArgument {
  readonly patterns: readonly PathPattern[]
  readonly withReads: boolean
}

/** Both rules ask how a path meets the patterns; where one wants it covered, the other wants it untouched. */
interface Sign {
  /** Whether the rule is broken by one reading of a path. */
  readonly breach: typeof touches
  readonly words: (certainty: Finding["certainty"]) => string
}

const ONLY: Sign = {
  breach: (patterns, path, extent, place) => {
    const breach = OPPOSITE[isCovered(patterns, path, extent, place)]
    return breach === "yes" && path.isDisguised === true ? "possible" : breach
  },
  words: (certainty) => `${certainty === "sure" ? "is" : "may be"} outside the paths that may be`,
}

const DENY: Sign = {
  breach: touches,
  words: (certainty) => `${certainty === "sure" ? "is" : "may be"} among the paths that must not be`,
}

const OPPOSITE: Readonly<Record<Meeting, Meeting>> = { yes: "no", possible: "possible", no: "yes", unknown: "unknown" }

export const pathsOnly = pathsRule(ONLY, {
  name: "paths.only",
  form: "paths.only <glob>… [!<glob>…] [access=any]",
  about: "Files are written and deleted only under these paths; with access=any, read too",
  example: "paths.only src/** tests/** !src/generated/**",
})

export const pathsDeny = pathsRule(DENY, {
  name: "paths.deny",
  form: "paths.deny <glob>… [!<glob>…] [access=any]",
  about: "No file under these paths is written or deleted; with access=any, nor read",
  example: "paths.deny infra/** .github/** **/*.pem",
})

function pathsRule(sign: Sign, described: Pick<RuleDefinition, "name" | "form" | "about" | "example">): RuleDefinition {
  return defineRule<PathsArgument>({
    ...described,
    concerns: ["alignment"],
    judged: "before",
    read: readPatterns,
    onAction: (argument, action, context) => judgePlaces(sign, argument, action, context),
  })
}

function readPatterns(text: RuleText): PathsArgument | ArgumentProblem {
  const option = unknownOption(text, ["access"])
  if (option !== undefined) return option
  const access = text.options.get("access")?.[0]
  if (access !== undefined && access.text !== "any" && access.text !== "write") {
    return { position: access.position, reason: "access is any or write" }
  }
  const patterns: PathPattern[] = []
  for (const { text: pattern, position } of text.values) {
    const read = readPathPattern(pattern)
    if (read === undefined) return { position, reason: "the pattern is too long, has too many choices, or is empty" }
    patterns.push(read)
  }
  if (!patterns.some((pattern) => !pattern.isException))
    return { position: text.rest.position, reason: "a path pattern is missing" }
  return { patterns, withReads: access?.text === "any" }
}

function judgePlaces(
  sign: Sign,
  { patterns, withReads }: PathsArgument,
  { action, places, opaque, unreadable, untold }: PreparedAction,
  context: CheckContext,
): Answer | undefined {
  if (action.tool === null && places.length === 0) return undefined
  const findings = new Map<string, Finding>()
  const unknown: string[] = []
  if (untold !== undefined) unknown.push(untold)
  for (const place of places) {
    if (place.access === "read" && !withReads) continue
    const breach = breachAt(sign, place, patterns, context)
    if (breach === "no") continue
    if (breach === "unknown") {
      unknown.push(`where ${place.text} leads is not known`)
      continue
    }
    const certainty = breach === "yes" ? "sure" : "possible"
    const message = `${place.text} ${sign.words(certainty)} ${verb(place)} (${patternWords(patterns)})`
    // A command says what it writes, and the work tree shows it: one breach, with two places to look, the command's first.
    const pointers = [...(findings.get(message)?.pointers ?? []), place.pointer]
    const isOwn = ({ stepId }: EvidencePointer): number => Number(stepId === action.stepId)
    pointers.sort((one, other) => isOwn(other) - isOwn(one))
    findings.set(message, { certainty, message, excerpt: place.text, pointers })
  }
  unknown.push(...unreadable, ...opaque)
  return { findings: [...findings.values()], unknown: unknown[0] }
}

/** A path that may lead to several places must be free of breach in all of them; where only some speak against it, it is possible. */
function breachAt(sign: Sign, place: TouchedPlace, patterns: readonly PathPattern[], context: CheckContext): Meeting {
  if (place.paths === undefined) return "unknown"
  const folders = place.paths.map((path): Meeting => {
    const meetings = locatePath(path, context)?.map((one) => sign.breach(patterns, one, place, context))
    // As written, with other separators, through links: one file, of which the worst reading counts.
    return WORST_FIRST.find((meeting) => meetings?.includes(meeting)) ?? "unknown"
  })
  if (folders.every((one) => one === "no")) return "no"
  // Whether anything is written through a link, only looking there would tell.
  if (folders.every((one) => one === "yes")) return place.isPossible === true ? "possible" : "yes"
  return folders.includes("yes") || folders.includes("possible") ? "possible" : "unknown"
}

const WORST_FIRST: readonly Meeting[] = ["yes", "possible", "unknown", "no"]

const verb = (place: TouchedPlace): string =>
  place.access === "delete" ? "deleted" : place.access === "write" ? "written" : "read"
const patternWords = (patterns: readonly PathPattern[]): string =>
  patterns
    .map((pattern) => pattern.text)
    .join(" ")
    .slice(0, 200)
