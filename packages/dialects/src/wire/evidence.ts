import { readJson } from "@orangebox/contract"
import { stringsOf } from "../json/node.js"
import type { OutlinedRequest } from "../request/read-request.js"
import { goesOnFromSummary } from "./compaction.js"
import type { PendingTool, RecentAnswer } from "./state.js"

const PROBE_LENGTH = 80
const MIN_ANSWER = 3 * PROBE_LENGTH

/** Three pieces of an answer long enough to be recognised elsewhere. */
export function probesOf(text: string): string[] {
  if (text.length < MIN_ANSWER) return []
  return [0.25, 0.5, 0.75].map((share) => {
    const from = Math.floor((text.length - PROBE_LENGTH) * share)
    return text.slice(from, from + PROBE_LENGTH)
  })
}

/** The most recent answer of which some piece stands in these texts. */
export function findQuoted(texts: readonly string[], answers: readonly RecentAnswer[]): RecentAnswer | undefined {
  return answers.findLast(({ probes }) => probes.some((probe) => texts.some((text) => text.includes(probe))))
}

const MIN_TASK = 16
const MAX_TASK = 8_000
const MAX_TASKS = 16

/** The texts among a tool call's arguments that could be a task for a sub-agent. */
export function taskTexts(argumentText: string): string[] {
  const reading = readJson(argumentText)
  if (!reading.ok) return []
  const texts: string[] = []
  for (const { value } of stringsOf(reading.node)) {
    const text = value.trim().slice(0, MAX_TASK)
    if (text.length >= MIN_TASK) texts.push(text)
    if (texts.length === MAX_TASKS) break
  }
  return texts
}

/** The pending tool call whose argument is the new lane's first message, or stands in it; the longest such argument wins. */
export function findDelegation(
  firstUserTexts: readonly string[],
  pending: readonly PendingTool[],
): PendingTool | undefined {
  let found: { tool: PendingTool; length: number } | undefined
  for (const tool of pending) {
    for (const task of tool.texts) {
      if (task.length <= (found?.length ?? 0)) continue
      if (firstUserTexts.some((text) => text.includes(task))) found = { tool, length: task.length }
    }
  }
  return found?.tool
}

/** What the user says before the first answer: a client that went on from a summary may put it behind messages of the user's own. */
export function firstUserTexts({ messages }: OutlinedRequest): string[] {
  const answered = messages.findIndex(({ role }) => role === "assistant")
  const before = answered < 0 ? messages : messages.slice(0, answered)
  return before.filter(({ role }) => role === "user").flatMap(({ parts }) => parts.flatMap((part) => part.text ?? []))
}

const SUMMARY_WORDS =
  /continued from a previous conversation|<(?:conversation_)?summary>|summary of (?:the|our) (?:conversation|previous)|context (?:was|has been) compacted/i

export function looksLikeSummary(texts: readonly string[]): boolean {
  return texts.some((text) => SUMMARY_WORDS.test(text)) || goesOnFromSummary(texts)
}
