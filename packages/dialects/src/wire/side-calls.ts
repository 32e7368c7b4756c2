import type { Endpoint } from "../dialect.js"
import type { OutlinedRequest } from "../request/read-request.js"
import type { SideCall } from "./facts.js"

const ENDPOINTS: Readonly<Record<Exclude<Endpoint, "generate">, SideCall["why"]>> = {
  count_tokens: "count_tokens",
  models: "models",
  compact: "compact",
  other: "other_endpoint",
}

export function sideCallByEndpoint(endpoint: Endpoint): SideCall | undefined {
  return endpoint === "generate" ? undefined : { fact: "side_call", why: ENDPOINTS[endpoint], certainty: "certain" }
}

const ASKS_FOR_A_TITLE =
  /\b(?:title|topic|headline|name)\b[^.\n]{0,80}\b(?:conversation|chat|session|thread|message)\b|\b(?:conversation|chat|session|thread|message)\b[^.\n]{0,80}\b(?:title|topic|headline)\b/i

/** Who wants a title says so first; what the title is for may be long. */
const LONGEST_INSTRUCTION = 1000

/**
 * Side calls that show in the request: one token asked for is a probe for quota or cache, and a short question without tools about a title
 * is not the agent's work. The second is a guess and says so.
 */
export function sideCallByRequest(request: OutlinedRequest): SideCall | undefined {
  const { maxTokens } = request.sampling
  if (maxTokens !== null && maxTokens <= 1) return { fact: "side_call", why: "probe", certainty: "likely" }
  if (request.tools.length > 0 || request.messages.filter((message) => message.role !== "system").length > 2)
    return undefined
  const instructions = [...request.system, ...request.messages.flatMap((message) => message.parts)]
    .map((part) => part.text?.slice(0, LONGEST_INSTRUCTION) ?? "")
    .join("\n")
  return ASKS_FOR_A_TITLE.test(instructions) ? { fact: "side_call", why: "title", certainty: "likely" } : undefined
}
