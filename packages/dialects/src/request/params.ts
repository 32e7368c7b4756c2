import type { JsonNode } from "@orangebox/contract"
import type { RequestOutline } from "./outline.js"

/** The members of a request that are not its prompt, in the order they were sent. */
export function paramsOf(root: JsonNode, promptMembers: ReadonlySet<string>): RequestOutline["params"] {
  if (root.kind !== "object") return []
  return root.members
    .filter((member) => !promptMembers.has(member.key))
    .map((member) => ({ name: member.key, value: member.value }))
}
