import type { OutlinedRequest } from "../request/read-request.js"

/** Who wants a summary says so first. */
const LONGEST_INSTRUCTION = 2000

/** What clients say when they ask for a summary that is to replace the history: each from the prompt of one that many use. */
const ASKS_FOR_COMPACTION = [
  /create a detailed summary of the conversation so far/i,
  /tasked with summarizing conversations/i,
  /context checkpoint compaction/i,
  /summarizes internal chat history into a given structure/i,
  /generate the <state_snapshot>/i,
  /detailed prompt for continuing our conversation above/i,
  /context summarization assistant/i,
  /\bsummarize this partial conversation\b/i,
]

/** What they say in front of such a summary when they go on from it. */
const GOES_ON_FROM_SUMMARY = [
  /session is being continued from a previous conversation/i,
  /another language model started to solve this problem and produced a summary/i,
  /conversation history before this point was compacted/i,
  /<state_snapshot>/i,
]

/** Whether a request asks for a summary of what it holds, in its system prompt or its last message. */
export function asksForCompaction({ system, messages }: OutlinedRequest): boolean {
  const last = messages.findLast(({ role }) => role !== "system")
  const asking = last?.role === "user" ? last.parts : []
  return [...system, ...asking].some((part) => holds(part.text, ASKS_FOR_COMPACTION))
}

/** Whether a history begins with the summary of one that was not seen here. */
export const goesOnFromSummary = (texts: readonly string[]): boolean =>
  texts.some((text) => holds(text, GOES_ON_FROM_SUMMARY))

function holds(text: string | null | undefined, words: readonly RegExp[]): boolean {
  if (!text) return false
  const beginning = text.slice(0, LONGEST_INSTRUCTION)
  return words.some((word) => word.test(beginning))
}
