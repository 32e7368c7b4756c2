import type { Segment } from "@orangebox/contract"
import type { PromptPart } from "./outline.js"

const MAX_NAME = 512

/**
 * Who put a part into the prompt. Named so that the same contributor has the same name in every request: what a tool costs in every prompt
 * is the sum of `tool:<name>`, what it brings in is the sum of `tool-result:<name>`.
 */
export function contributorOf(part: PromptPart, toolName: string): string {
  switch (part.kind) {
    case "tool-def":
      return cut(`tool:${toolName}`)
    case "tool-result":
      return cut(`tool-result:${toolName}`)
    case "system":
      return "system"
    default:
      return cut(part.role ?? "?")
  }
}

/**
 * From the wire alone a skill or an agent profile looks like any other system text, so those kinds come only from a recorder that
 * assembled the prompt itself.
 */
export function segmentKindOf(part: PromptPart, isLatest: boolean): Segment["kind"] {
  if (part.kind === "tool-def") return "tool-def"
  if (part.kind === "system") return "persona"
  return isLatest && part.role === "user" && part.kind !== "tool-result" ? "user-msg" : "history"
}

const cut = (name: string): string => (name.length > MAX_NAME ? name.slice(0, MAX_NAME).toWellFormed() : name || "?")
