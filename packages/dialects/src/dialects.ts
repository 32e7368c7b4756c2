import { anthropicMessages } from "./anthropic-messages/index.js"
import type { Dialect } from "./dialect.js"
import { gemini } from "./gemini/index.js"
import { openaiChat } from "./openai-chat/index.js"
import { openaiResponses } from "./openai-responses/index.js"

/** Every dialect known here, in the order in which they are asked whether a call is theirs. */
export const DIALECTS: readonly Dialect[] = [gemini, anthropicMessages, openaiResponses, openaiChat]

export function dialectOf(id: string): Dialect | undefined {
  return DIALECTS.find((dialect) => dialect.id === id)
}
