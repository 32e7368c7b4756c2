import type { PayloadOf, TokenUsage } from "@orangebox/contract"
import type { FoldedResponse } from "@orangebox/dialects"
import type { BodiesOfEvent } from "../bodies-of-event.js"
import { summaryOf } from "../lifecycle-events.js"
import { nameOrNull } from "./contract-values.js"

/** What every answer says, however it came to be recorded. */
export function answerStamps(
  folded: FoldedResponse | undefined,
  bodies: Pick<BodiesOfEvent, "refAs">,
  summarize: (text: string) => string,
) {
  const rawUsage = folded?.usage.raw ?? null
  const toolNames = toolNamesOf(folded)
  return {
    finish_reason: nameOrNull(folded?.finishReason),
    token_usage: folded?.usage.tokens ?? NO_USAGE,
    usage_ref: rawUsage === null ? undefined : bodies.refAs("usage", JSON.stringify(rawUsage), "application/json"),
    service_tier: nameOrNull(folded?.usage.serviceTier) ?? undefined,
    cache_write_1h_tokens: folded?.usage.cacheWrite1h || undefined,
    requested_tools: toolNames.length > 0 ? toolNames : undefined,
    requested_tool_ids: toolNames.length > 0 ? folded!.toolCalls.map(({ id }) => nameOrNull(id)) : undefined,
    thinking_ms: folded?.thinkingMs,
    cache_diagnosis: folded?.cacheMiss
      ? { type: nameOrNull(folded.cacheMiss.type) ?? "unknown", missed_tokens: folded.cacheMiss.missedTokens }
      : undefined,
    ...(folded && folded.text !== "" ? summaryOf("output_summary", () => summarize(folded.text)) : {}),
  } satisfies Partial<PayloadOf<"model_result">>
}

function toolNamesOf(folded: FoldedResponse | undefined): string[] {
  return folded?.toolCalls.map((call) => nameOrNull(call.name) ?? "unknown") ?? []
}

const NO_USAGE: TokenUsage = { prompt: null, completion: null, total: null }
