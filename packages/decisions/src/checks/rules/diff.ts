import { isFailure } from "@orangebox/runs"
import type { EvidencePointer, FileEdit, RunActions } from "../../action.js"
import { holdsMask } from "../../captured-text.js"
import { isSamePath, netChanges } from "../../net-changes.js"
import type { PreparedAction } from "../prepared-action.js"
import { type Answer, type ArgumentProblem, defineRule, oneNumber, unknownOption } from "../rule.js"
import type { RuleText } from "../rule-text.js"

interface DiffArgument {
  readonly limit: number
  readonly perAction: boolean
}

export const diffMaxLines = defineRule<DiffArgument>({
  name: "diff.max_lines",
  form: "diff.max_lines <number> [per=run|action]",
  about: "Edits add and remove no more lines than this, in the whole run or in each action",
  example: "diff.max_lines 400 per=run",
  concerns: ["alignment", "quality"],
  judged: "before",
  read: readLimit,
  onAction: ({ limit, perAction }, action) =>
    perAction && changesFiles(action) ? judgeLines(limit, [action]) : undefined,
  onRun: ({ limit, perAction }, run, actions) => (perAction ? { findings: [] } : judgeLines(limit, actions, run)),
})

function readLimit(text: RuleText): DiffArgument | ArgumentProblem {
  const option = unknownOption(text, ["per"])
  if (option !== undefined) return option
  const per = text.options.get("per")?.[0]
  if (per !== undefined && per.text !== "run" && per.text !== "action")
    return { position: per.position, reason: "per is run or action" }
  const number = oneNumber(text, "the number of lines")
  return "reason" in number ? number : { limit: number.limit, perAction: per?.text === "action" }
}

const changesFiles = ({ action, places }: PreparedAction): boolean =>
  action.edits.length > 0 ||
  action.type === "edit" ||
  action.unread.includes("args") ||
  places.some((place) => place.access !== "read")

function judgeLines(
  limit: number,
  actions: readonly PreparedAction[],
  { seenChanges, workTree }: Pick<RunActions, "seenChanges" | "workTree"> = {},
): Answer {
  let lines = 0
  let unknown: string | undefined
  let last: EvidencePointer | undefined
  const changes = netChanges({ actions: actions.map(({ action }) => action), seenChanges, workTree })
  for (const change of changes) {
    const edit = change.edits.at(-1)!
    const masked = change.edits.find(({ diff }) => holdsMask(diff))
    lines += masked === undefined ? (change.linesAdded ?? 0) + (change.linesRemoved ?? 0) : certainLines(masked)
    if (change.linesAdded === null) unknown ??= `how many lines of ${change.path} changed is not known`
    else if (change.linesRemoved === null) unknown ??= `how many lines ${change.path} had before is not known`
    if (masked !== undefined) unknown ??= `a part of what changes in ${change.path} was masked when it was recorded`
    if (lines > limit) last ??= edit.evidence
  }
  for (const { action, places, unreadable, untold } of actions) {
    if (action.unread.includes("args") || action.type === "edit") unknown ??= untold
    if (action.edits.length > 0 || isFailure(action.status)) continue
    const changed = places.find(
      ({ access, text }) => access !== "read" && !changes.some(({ path }) => isSamePath(path, text)),
    )
    if (changed !== undefined) unknown ??= `how many lines of ${changed.text} changed is not known`
    else if (unreadable[0] !== undefined) unknown ??= unreadable[0]
  }
  if (lines <= limit) return { findings: [], unknown }
  const message = `edits change ${lines} lines, ${lines - limit} more than allowed`
  return {
    findings: [{ certainty: "sure", message, excerpt: null, pointers: last === undefined ? [] : [last] }],
    unknown,
  }
}

/** Lines that changed for sure. What a mask hides of an old text may have stood in the new one too. */
function certainLines({ diff, linesAdded, linesRemoved }: FileEdit): number {
  if (!holdsMask(diff)) return linesAdded + (linesRemoved ?? 0)
  return (linesRemoved ?? 0) > 0 ? 0 : linesAdded - diff.split("\n").filter(holdsMask).length
}
