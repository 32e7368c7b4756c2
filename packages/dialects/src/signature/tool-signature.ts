import { type BodyHash, canonicalJson, canonicalJsonNode, type JsonNode, readJson, textHash } from "@orangebox/contract"
import { newCanon, type RuleTable } from "./canon.js"
import { callDigest, GENERIC_CANON_VERSION } from "./digest.js"
import { idNaming } from "./id-naming.js"

/**
 * A tool call by its name and arguments. `folder` is the working folder relative to the workspace, where the tool has one.
 * Equal to `toolSignatureOfText` for the same arguments, whatever their key order.
 */
export function toolSignature(name: string, args: unknown, folder?: string): BodyHash {
  return callDigest("tool", [name, canonicalJson(args ?? null), folder ?? ""])
}

/** The same for arguments as a model writes them. Text that is not JSON (a cut call, a free-form tool) is signed as the text it is. */
export function toolSignatureOfText(name: string, argumentText: string, folder?: string): BodyHash {
  const reading = readJson(argumentText)
  const canonical = reading.ok ? canonicalJsonNode(reading.node) : JSON.stringify(argumentText)
  return callDigest("tool", [name, canonical, folder ?? ""])
}

/**
 * A question to a model in a protocol that no dialect knows, as an application told it.
 *
 * @param asked its canonical JSON; of one that is plain text or bytes, the hash of its body
 */
export function genericSignature(provider: string, asked: string): BodyHash {
  return textHash(`obx-sig\0${GENERIC_CANON_VERSION}\0model\0${provider}\0${asked}`)
}

export interface RetrievalToSign {
  readonly query: string
  readonly index: string
  /** Where known: the same question to another state of the index is another question. */
  readonly indexVersion?: string | null
  readonly topK?: number | null
  readonly filters?: unknown
}

export function retrieverSignature(retrieval: RetrievalToSign): BodyHash {
  const { query, index, indexVersion = null, topK = null, filters = {} } = retrieval
  return callDigest("retriever", [canonicalJson({ query, index, indexVersion, topK, filters })])
}

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
