import { locatePath } from "../paths/located-path.js"
import { isCovered, type Meeting, type PathPattern, readPathPattern, touches } from "../paths/path-pattern.js"
import type { PreparedAction, TouchedPlace } from "../prepared-action.js"
import {
  type Answer,
  type ArgumentProblem,
  type CheckContext,
  defineRule,
  type Finding,
  unknownOption,
} from "../rule.js"
import type { RuleText } from "../rule-text.js"

interface PathsArgument {
  readonly patterns: readonly PathPattern[]
  readonly withReads: boolean
}

export const pathsOnly = defineRule<PathsArgument>({
  name: "paths.only",
  form: "paths.only <glob>… [!<glob>…] [access=any]",
  about: "Files are written and deleted only under these paths; with access=any, read too",
  example: "paths.only src/** tests/** !src/generated/**",
  concerns: ["alignment"],
  judged: "before",
  read: readPatterns,
  onAction: (argument, action, context) =>
    judgePlaces(
      argument,
      action,
      context,
      (place, meeting) => {
        if (meeting === "yes") return undefined
        const certainty = meeting === "no" ? "sure" : "possible"
        const words = certainty === "sure" ? "is outside" : "may be outside"
        return {
          certainty,
          message: `${place.text} ${words} the paths that may be ${verb(place)} (${patternWords(argument)})`,
        }
      },
      isCovered,
      true,
    ),
})

export const pathsDeny = defineRule<PathsArgument>({
  name: "paths.deny",
  form: "paths.deny <glob>… [!<glob>…] [access=any]",
  about: "No file under these paths is written or deleted; with access=any, nor read",
  example: "paths.deny infra/** .github/** **/*.pem",
  concerns: ["alignment"],
  judged: "before",
  read: readPatterns,
  onAction: (argument, action, context) =>
    judgePlaces(
      argument,
      action,
      context,
      (place, meeting) => {
        if (meeting === "no") return undefined
        const certainty = meeting === "yes" ? "sure" : "possible"
        const words = certainty === "sure" ? "is" : "may be"
        return {
          certainty,
          message: `${place.text} ${words} among the paths that must not be ${verb(place)} (${patternWords(argument)})`,
        }
      },
      touches,
      false,
    ),
})

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

type Judge = (
  place: TouchedPlace,
  meeting: Exclude<Meeting, "unknown">,
) => Pick<Finding, "certainty" | "message"> | undefined

function judgePlaces(
  { patterns, withReads }: PathsArgument,
  { action, places, opaque, unreadable, untold }: PreparedAction,
  context: CheckContext,
  judge: Judge,
  meet: typeof touches,
  mustHold: boolean,
): Answer | undefined {
  if (action.tool === null && places.length === 0) return undefined
  const findings: Finding[] = []
  const unknown: string[] = []
  if (untold !== undefined) unknown.push(untold)
  for (const place of places) {
    if (place.access === "read" && !withReads) continue
    const meeting = meetPlace(place, patterns, context, meet, mustHold)
    if (meeting === "unknown") {
      unknown.push(`where ${place.text} leads is not known`)
      continue
    }
    const found = judge(place, meeting)
    if (found !== undefined) findings.push({ ...found, excerpt: place.text, pointers: [place.pointer] })
  }
  unknown.push(...unreadable, ...opaque)
  return { findings, unknown: unknown[0] }
}

/** A path that may lead to several places must hold, or be free, in all of them; where only some speak against it, it is possible. */
function meetPlace(
  place: TouchedPlace,
  patterns: readonly PathPattern[],
  context: CheckContext,
  meet: typeof touches,
  mustHold: boolean,
): Meeting {
  if (place.paths === undefined) return "unknown"
  const folders = place.paths.map((path): Meeting => {
    const located = locatePath(path, context)
    if (located === undefined) return "unknown"
    const meetings = located.map((one): Meeting => {
      const meeting = meet(patterns, one, place, context)
      return mustHold && one.isDisguised === true && meeting === "no" ? "possible" : meeting
    })
    // As written, with other separators, through links: one file, of which the worst reading counts.
    const order: readonly Meeting[] = mustHold
      ? ["no", "possible", "unknown", "yes"]
      : ["yes", "possible", "unknown", "no"]
    return order.find((meeting) => meetings.includes(meeting)) ?? "unknown"
  })
  const bad: Meeting = mustHold ? "no" : "yes"
  const good: Meeting = mustHold ? "yes" : "no"
  if (folders.every((one) => one === bad)) return bad
  if (folders.every((one) => one === good)) return good
  return folders.includes(bad) || folders.includes("possible") ? "possible" : "unknown"
}

const verb = (place: TouchedPlace): string =>
  place.access === "delete" ? "deleted" : place.access === "write" ? "written" : "read"
const patternWords = ({ patterns }: PathsArgument): string =>
  patterns
    .map((pattern) => pattern.text)
    .join(" ")
    .slice(0, 200)
