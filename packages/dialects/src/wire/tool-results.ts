import type { PromptPart } from "../request/outline.js"
import type { ToolAnswered } from "./facts.js"
import type { Spot } from "./find-spot.js"
import type { Chain } from "./locate.js"
import type { PendingTool } from "./state.js"

/**
 * The tool results a request brings. Only new ones count, but a pending call may be answered anywhere: a rewritten history moves its
 * results, and an attempt repeated brings nothing new at all.
 */
export function answeredTools(
  pending: readonly PendingTool[],
  parts: readonly PromptPart[],
  spot: Spot,
  chain: Chain,
): { readonly answered: readonly ToolAnswered[]; readonly pending: readonly PendingTool[] } {
  const firstNew = chain.atoms[spot.known]?.part ?? (spot.known === 0 ? 0 : Number.POSITIVE_INFINITY)
  const answered: ToolAnswered[] = []
  let rest = pending
  parts.forEach((part, index) => {
    if (part.kind !== "tool-result" || part.role === "assistant") return
    const tool = rest.find((candidate) => answers(part, candidate, spot.lane))
    const isNew = spot.follows !== null && index >= firstNew
    if (tool === undefined && !isNew) return
    if (tool !== undefined) rest = rest.filter((candidate) => candidate !== tool)
    answered.push({
      fact: "tool_answered",
      lane: spot.lane,
      toolCallId: part.callId,
      tool: tool?.tool ?? part.name ?? null,
      calledBy: tool?.call ?? null,
      calledAtMs: tool?.atMs ?? null,
      text: part.text,
      isError: part.isError,
    })
  })
  return { answered, pending: rest }
}

// Gemini's calls have no ids: the oldest unanswered call of that name in the lane is meant.
function answers(part: PromptPart, tool: PendingTool, lane: string): boolean {
  if (tool.lane !== lane) return false
  return part.callId ? tool.id === part.callId : tool.id === null && tool.tool === part.name
}
