import type { OutlinedRequest } from "../request/read-request.js"
import type { ConversationNamed } from "./facts.js"
import type { RequestObserved } from "./observation.js"

/** By the clients that send them; where one sends several, the one that outlives a compaction comes first. */
const CONVERSATION_HEADERS = [
  "x-claude-code-session-id",
  "session-id",
  "session_id",
  "conversation_id",
  "thread-id",
  "x-opencode-session",
  "x-session-affinity",
  "x-session-id",
  "x-conversation-id",
  "helicone-session-id",
]
/** `<thread>:<n>`, where n counts compactions. */
const WINDOW_HEADER = "x-codex-window-id"
const AGENT_HEADERS = ["x-claude-code-agent-id", "x-codex-parent-thread-id"]
const LONGEST = 512

/** What the client itself calls the conversation. */
export function conversationOf(
  request: RequestObserved,
  outlined: OutlinedRequest,
): Omit<ConversationNamed, "lane"> | undefined {
  const named = firstHeader(request, CONVERSATION_HEADERS)
  if (named !== null && named.length <= LONGEST)
    return { fact: "conversation_named", conversationId: named, from: "header" }
  const hint = outlined.conversationHint
  if (hint !== null && isOneOfAKind(hint)) return { fact: "conversation_named", conversationId: hint, from: "body" }
  const thread = firstHeader(request, [WINDOW_HEADER])?.replace(/:\d+$/, "")
  return thread && isOneOfAKind(thread)
    ? { fact: "conversation_named", conversationId: thread, from: "header" }
    : undefined
}

/**
 * Whether a name was made for one conversation. What stands in a body is often a cache key, and one that is the same for all users of an
 * application would make one conversation of them all.
 */
const isOneOfAKind = (name: string): boolean =>
  name.length <= LONGEST &&
  (UUID.test(name) || name.split(/[^0-9a-z]+/i).some((word) => word.length >= 16 && MIXED.test(word)))

const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i
const MIXED = /\d.*[a-z]|[a-z].*\d/i

/** What the harness calls the sub-agent that speaks; null for the main one. */
export const agentHintOf = (request: RequestObserved): string | null => firstHeader(request, AGENT_HEADERS)

function firstHeader(request: RequestObserved, names: readonly string[]): string | null {
  for (const name of names) {
    const value = request.headers?.[name]
    if (value) return value
  }
  return null
}
