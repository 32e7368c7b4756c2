import { ActionType, integerIn, payloadOf, summarizeText, type ToolMeaning, textIn } from "@orangebox/contract"
import { parseJson } from "@orangebox/dialects"
import type { Step } from "@orangebox/runs"
import type { Action, ActionPart, ActionTool, EvidencePointer, FileEdit, RanCommand } from "./action.js"
import { holdsMask } from "./captured-text.js"
import { pullRequestUrlIn, readCommand } from "./commands/read-command.js"
import { readApplyPatch } from "./edits/apply-patch.js"
import { pointTo } from "./evidence.js"
import { type BodyLookup, bodyText } from "./recorded-run.js"
import { exitCodeIn, outputTextOf } from "./tool-output.js"
import { readToolUse, type ToolReading, touchedBy } from "./tools/tool-reading.js"

export type ToolMeanings = { readonly [toolName: string]: ToolMeaning }

/** What a tool step did, without what its place in the run adds. */
export type ToolFacts = Pick<
  Action,
  | "type"
  | "summary"
  | "status"
  | "unread"
  | "tool"
  | "paths"
  | "commands"
  | "edits"
  | "testRuns"
  | "commits"
  | "pullRequests"
  | "targets"
  | "evidence"
>

export function readToolStep(step: Step, bodies: BodyLookup, meanings: ToolMeanings): ToolFacts {
  const decided = payloadOf(step.events.findLast((event) => event.event_type === "decision"))
  return readTool(toolOf(step, bodies), meanings, {
    stepId: step.id,
    isOnWire: step.opened?.inferred_by !== undefined,
    toldType: asActionType(textIn(decided, "action_type") ?? step.opened?.attributes?.["action_type"]),
    toldSummary: textIn(decided, "action_summary"),
    argsSummary: textIn(payloadOf(step.opened), "args_summary"),
  })
}

/** What a tool call means where it stands. */
export interface ToolPlace {
  readonly stepId: string
  /** It was seen in the traffic of an agent without our SDK. */
  readonly isOnWire: boolean
  /** The application's own word: a decision event in the step, or an attribute on the call. */
  readonly toldType?: ActionType | undefined
  readonly toldSummary?: string | undefined
  /** What is left of the arguments when they are not kept. */
  readonly argsSummary?: string | undefined
}

export function readTool(tool: ActionTool, meanings: ToolMeanings, place: ToolPlace): ToolFacts {
  const { stepId } = place
  const meaning = Object.hasOwn(meanings, tool.name) ? meanings[tool.name] : undefined
  const reading = readToolUse({ name: tool.name, args: tool.args, result: tool.resultText, meaning })
  const output = tool.resultText === null ? null : outputTextOf(tool.resultText)
  const argsAt = (text: string): EvidencePointer => pointTo(stepId, tool.argsRef || null, tool.argsText, text)
  const resultAt: EvidencePointer = { stepId, ref: tool.resultRef }

  const exitCode = tool.exitCode ?? exitCodeOf(tool, output, reading, place.isOnWire)
  const command = reading.command
  const ran: RanCommand[] = command ? [{ ...command, exitCode, evidence: argsAt(command.text) }] : []
  const did = command
    ? readCommand({ text: command.text, output, exitCode, evidence: ran[0]!.evidence, outputEvidence: resultAt })
    : undefined
  const made = command ? readApplyPatch(command.text) : reading.edits
  // What failed changed nothing; what it was told to touch is still what it tried.
  const hasFailed = tool.status === "error" || tool.status === "timeout" || (command !== null && (exitCode ?? 0) !== 0)
  const tried: FileEdit[] = made.map((edit) => ({ ...edit, evidence: argsAt(edit.path) }))
  const edits = hasFailed ? [] : tried
  const type = place.toldType ?? typeOf(reading, did?.action, tried)
  const isApiPullRequest = type === "open_pr" && did === undefined

  return {
    type,
    summary:
      place.toldSummary ?? summaryOf(tool, reading, tried, did?.testRuns[0]?.summary, exitCode, place.argsSummary),
    status: tool.status,
    unread: unreadOf(tool, reading),
    tool: { ...tool, exitCode, ...(meaning?.action !== undefined && { isDescribed: true }) },
    paths: [
      ...reading.paths.map((touched) => ({ ...touched, evidence: argsAt(touched.path) })),
      ...(command ? touchedBy(tried).map(({ path, access, edit }) => ({ path, access, evidence: edit.evidence })) : []),
    ],
    commands: ran,
    edits,
    testRuns: did?.testRuns ?? [],
    commits: did?.commits ?? [],
    pullRequests: isApiPullRequest
      ? [{ url: output === null ? null : pullRequestUrlIn(output), title: reading.title, evidence: resultAt }]
      : (did?.pullRequests ?? []),
    targets: [...reading.urls.map((target) => ({ target, evidence: argsAt(target) })), ...(did?.targets ?? [])],
    evidence: [{ stepId, ref: tool.argsRef || null }, ...(tool.resultRef === null ? [] : [resultAt])],
  }
}

function toolOf(step: Step, bodies: BodyLookup): ActionTool {
  const opening = payloadOf(step.opened)
  const closing = payloadOf(step.closed)
  const argsRef = textIn(opening, "args_ref") ?? ""
  const argsText = bodyText(bodies, argsRef)
  const resultRef = textIn(closing, "result_ref") ?? textIn(closing, "error_message_ref") ?? null
  return {
    name: textIn(opening, "tool_name") ?? textIn(closing, "tool_name") ?? "?",
    callId: textIn(opening, "tool_call_id") ?? textIn(closing, "tool_call_id") ?? null,
    args: argsText === null ? undefined : (parseJson(argsText) ?? argsText),
    argsText,
    argsRef,
    resultText: bodyText(bodies, resultRef),
    resultRef,
    status: step.status,
    exitCode: integerIn(closing, "exit_code") ?? null,
  }
}

function exitCodeOf(tool: ActionTool, output: string | null, reading: ToolReading, isOnWire: boolean): number | null {
  if (reading.command === null || tool.resultText === null || output === null) return null
  const isError = tool.status !== "success"
  const stated = exitCodeIn(tool.resultText) ?? (output === tool.resultText ? null : exitCodeIn(output))
  // Claude Code turns a failed command into an error that begins with its code, and so a result seen on the wire that is none means 0.
  return stated ?? (isOnWire && tool.name === "Bash" && !isError ? 0 : null)
}

const ACTION_TYPES: ReadonlySet<unknown> = new Set(ActionType.options)

/** A set, not the schema: most calls are told no type, and an error for each of them costs more than reading the call. */
export const asActionType = (told: unknown): ActionType | undefined =>
  ACTION_TYPES.has(told) ? (told as ActionType) : undefined

function typeOf(reading: ToolReading, did: ActionType | undefined, edits: readonly FileEdit[]): ActionType {
  if (reading.isFixed || did === undefined) return reading.action
  if (did === "command" && edits.length > 0) return "edit"
  return did === "command" ? reading.action : did
}

function unreadOf({ argsText, resultRef, resultText }: ActionTool, { isMasked }: ToolReading): ActionPart[] {
  const unread: ActionPart[] = []
  if (argsText === null || isMasked) unread.push("args")
  if (resultRef !== null && (resultText === null || holdsMask(resultText))) unread.push("result")
  return unread
}

function summaryOf(
  tool: ActionTool,
  reading: ToolReading,
  edits: readonly FileEdit[],
  tests: string | undefined,
  exitCode: number | null,
  argsSummary: string | undefined,
): string {
  const about =
    reading.command?.text ??
    (edits.length > 0 ? edits.map(editWords).join(", ") : undefined) ??
    reading.paths[0]?.path ??
    reading.urls[0] ??
    argsSummary ??
    ""
  const failed = exitCode !== null && exitCode !== 0 ? `exit code ${exitCode}` : undefined
  const end = tests ?? failed ?? statusWords(tool.status)
  return summarizeText(`${tool.name} ${about}`.trim() + (end === undefined ? "" : ` (${end})`))
}

const editWords = ({ path, linesAdded, linesRemoved }: FileEdit): string =>
  `${path} +${linesAdded} −${linesRemoved ?? "?"}`

const statusWords = (status: ActionTool["status"]): string | undefined => (status === "success" ? undefined : status)
