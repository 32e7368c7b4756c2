import { type BodyHash, canonicalJsonNode, type JsonNode, readJson } from "@orangebox/contract"
import { newCanon, type RuleTable } from "./canon.js"
import { callDigest } from "./digest.js"
import { idNaming } from "./id-naming.js"

/**
 * An MCP request by method and params. The JSON-RPC id, progress tokens, trace context and what the client says about itself are
 * different in every session and decide nothing.
 */
export function mcpSignature(method: string, paramsText: string): BodyHash {
  const reading = readJson(paramsText === "" ? "{}" : paramsText)
  return callDigest("mcp", [method, reading.ok ? canonicalParams(reading.node) : JSON.stringify(paramsText)])
}

const SESSION_META = ["progressToken", "traceparent", "tracestate", "baggage", "io.modelcontextprotocol/clientInfo"]

function canonicalParams(params: JsonNode): string {
  const canon = newCanon(idNaming())
  const metaTable: RuleTable = Object.fromEntries(SESSION_META.map((key) => [key, canon.drop]))
  const kept = canon.object({
    clientInfo: canon.drop,
    _meta: (value, pointer) => {
      const meta = canon.object(metaTable)(value, pointer)
      return meta?.kind === "object" && meta.members.length === 0 ? undefined : meta
    },
  })(params, "")
  return canonicalJsonNode(kept ?? params)
}
