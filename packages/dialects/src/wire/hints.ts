import type { OutlinedRequest } from "../request/read-request.js"
import type { ConversationNamed } from "./facts.js"
import type { RequestObserved } from "./observation.js"

const CONVERSATION_HEADERS = ["x-claude-code-session-id", "x-codex-window-id", "session_id", "conversation_id"]
const AGENT_HEADERS = ["x-claude-code-agent-id", "x-codex-parent-thread-id"]

/** What the client itself calls the conversation. */
export function conversationOf(
  request: RequestObserved,
  outlined: OutlinedRequest,
): Omit<ConversationNamed, "lane"> | undefined {
  const named = firstHeader(request, CONVERSATION_HEADERS)
  if (named !== null) return { fact: "conversation_named", conversationId: named, from: "header" }
  const hint = outlined.conversationHint
  return hint === null ? undefined : { fact: "conversation_named", conversationId: hint, from: "body" }
}

/** What the harness calls the sub-agent that speaks; null for the main one. */
export const agentHintOf = (request: RequestObserved): string | null => firstHeader(request, AGENT_HEADERS)

function firstHeader(request: RequestObserved, names: readonly string[]): string | null {
  for (const name of names) {
    const value = request.headers?.[name]
    if (value) return value
  }
  return null
}
