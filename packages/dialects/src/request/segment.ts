import type { Segment } from "@orangebox/contract"
import type { PromptPart } from "./outline.js"

const MAX_NAME = 512

/**
 * Who put a part into the prompt, and what it is. From the wire alone a skill or an agent profile looks like any other system text, so
 * those kinds come only from a recorder that assembled the prompt itself.
 */
export function segmentOf(
  part: PromptPart,
  context: { readonly isLatest: boolean; toolOf(callId: string): string | undefined },
): Pick<Segment, "contributor" | "kind" | "role"> {
  return { contributor: contributorOf(part, context.toolOf), kind: kindOf(part, context.isLatest), role: part.role }
}

function contributorOf(part: PromptPart, toolOf: (callId: string) => string | undefined): string {
  switch (part.kind) {
    case "tool-def":
      return cut(`tool:${part.name ?? "?"}`)
    case "tool-result":
      return cut(`tool-result:${part.name ?? (part.callId ? toolOf(part.callId) : undefined) ?? "?"}`)
    case "system":
      return "system"
    default:
      return cut(part.role ?? "?")
  }
}

function kindOf(part: PromptPart, isLatest: boolean): Segment["kind"] {
  if (part.kind === "tool-def") return "tool-def"
  if (part.kind === "system") return "persona"
  return isLatest && part.role === "user" && part.kind !== "tool-result" ? "user-msg" : "history"
}

const cut = (name: string): string => (name.length > MAX_NAME ? name.slice(0, MAX_NAME).toWellFormed() : name || "?")
