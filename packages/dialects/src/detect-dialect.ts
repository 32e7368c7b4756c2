import { aiSdkOptions } from "./ai-sdk/index.js"
import type { CallAddress, Dialect, Endpoint, RequestDialect } from "./dialect.js"
import { DIALECTS } from "./dialects.js"
import { bodyOf, type JsonBody } from "./json/body.js"
import { isRecord, type JsonValue, parseJson } from "./json/value.js"
import { outlineOf } from "./request/read-request.js"

export interface DetectedDialect {
  readonly dialect: Dialect
  readonly endpoint: Endpoint
  /** What gave it away: the address, or only the shape of the body. */
  readonly by: "address" | "body"
}

/** Undefined for a provider that no dialect knows: its calls are kept as they are. */
export function detectDialect(
  call: CallAddress & { readonly requestBody?: Uint8Array | JsonBody | undefined },
): DetectedDialect | undefined {
  for (const dialect of DIALECTS) {
    const endpoint = dialect.endpointOf(call)
    if (endpoint !== undefined) return { dialect, endpoint, by: "address" }
  }
  if (call.method !== "POST" || call.requestBody === undefined) return undefined
  const root = bodyOf(call.requestBody).root
  if (root?.kind !== "object") return undefined
  const dialect = DIALECTS.find((candidate) => candidate.claimsRequest(root))
  return dialect && { dialect, endpoint: "generate", by: "body" }
}

/**
 * For a request that an application tells of without an address: the provider it names, where the body is in that provider's protocol, else
 * a body that can only be one's. Undefined is unknown; between two protocols that both fit there is no guess.
 */
export function dialectTold(provider: string, request: JsonBody): Dialect | RequestDialect | undefined {
  const { root } = request
  if (root?.kind !== "object") return undefined
  // Clients that speak many protocols name the one they will turn this into.
  if (aiSdkOptions.claimsRequest(root)) return aiSdkOptions
  const fitting = DIALECTS.filter((dialect) => isCalled(provider, dialect) && hasMessages(dialect, request))
  return fitting.length === 1 ? fitting[0] : DIALECTS.find((dialect) => dialect.claimsRequest(root))
}

/** Whether it is a protocol that a server speaks, and not only how a client library asks. */
export const isSpoken = (dialect: Dialect | RequestDialect): dialect is Dialect => "readAnswer" in dialect

/** The path of a call that was told of and not seen: it says nothing. */
export const NO_PATH = ""

/** `anthropic`, `anthropic.messages` and `vertex.anthropic` all speak of Anthropic. */
function isCalled(provider: string, { provider: own, access, alsoCalled = [] }: Dialect): boolean {
  const said = provider.toLowerCase()
  const words = [said, ...said.split(/[^a-z0-9_]+/)]
  return [own, access.name, ...alsoCalled].some((name) => words.includes(name))
}

function hasMessages(dialect: Dialect, request: JsonBody): boolean {
  return (outlineOf(dialect, request, NO_PATH)?.outlined.messages.length ?? 0) > 0
}

/** For a request that an application recorded without an address: its members decide, and between equals what is said about the provider. */
export function dialectByShape(request: JsonBody, provider: string | null): Dialect | undefined {
  const members = request.root?.kind === "object" ? request.root.members : []
  let best: { readonly dialect: Dialect; readonly score: number } | undefined
  for (const dialect of DIALECTS) {
    const known = members.filter(({ key }) => Object.hasOwn(dialect.shape.members, key))
    const score = known.length + (dialect.provider === provider ? 0.5 : 0)
    const hasHistory = known.some(
      ({ key, value }) =>
        dialect.shape.members[key] === "history" && (value.kind === "array" || value.kind === "string"),
    )
    if (hasHistory && score >= (best?.score ?? 0)) best = { dialect, score }
  }
  return best?.dialect
}

/** Whose answer this is, from the JSON of a body or of one stream event. */
export function dialectOfAnswer(json: string): Dialect | undefined {
  const value: JsonValue | undefined = parseJson(json)
  const first = Array.isArray(value) ? value[0] : value
  return isRecord(first) ? DIALECTS.find((dialect) => dialect.claimsAnswer(first)) : undefined
}
