import {
  createRequestMemory,
  type Dialect,
  detectDialect,
  dialectTold,
  isSpoken,
  type JsonBody,
  NO_PATH,
  type RequestAnatomy,
  type RequestDialect,
  type RequestMemory,
  readBody,
  readRequest,
} from "@orangebox/dialects"
import type { EventBuilder } from "../event-builder.js"
import type { WireRequest } from "./wire-call.js"

/** What a request is, read before it is recorded. */
export interface KnownRequest {
  /** In whose words it asks. */
  readonly asked: RequestDialect | undefined
  /** Whose answer comes back. */
  readonly dialect: Dialect | undefined
  readonly endpoint: string | undefined
  readonly anatomy: RequestAnatomy | undefined
  /** The model it names, also where no dialect knows the provider. */
  readonly model: string | null
  /** The body, read once for everything that asks about it. */
  readonly json: JsonBody
}

/** @param memory of the requests before: one that repeats the last is then known at the cost of what is new */
export function knowRequest(request: WireRequest, memory?: RequestMemory): KnownRequest {
  const address = addressOf(request)
  const json = readBody(request.body, memory)
  const unknown = {
    asked: undefined,
    dialect: undefined,
    endpoint: undefined,
    anatomy: undefined,
    model: modelNamed(request, json),
    json,
  }
  try {
    const detected = detectDialect({ requestBody: json, ...address })
    if (!detected) return unknown
    const anatomy = detected.endpoint === "generate" ? readRequest(detected.dialect, json, address.path) : undefined
    const { dialect, endpoint } = detected
    return { ...unknown, asked: dialect, dialect, endpoint, anatomy, model: anatomy?.model ?? unknown.model }
  } catch {
    return unknown
  }
}

/** The same of a request that an application tells of: it names the provider, and no address. */
export function knowTold(
  body: Uint8Array,
  told: { readonly provider: unknown; readonly model: unknown },
  memory?: RequestMemory,
): KnownRequest {
  const json = readBody(body, memory)
  const model = typeof told.model === "string" ? told.model : null
  const unknown = { asked: undefined, dialect: undefined, endpoint: "generate", anatomy: undefined, model, json }
  try {
    const asked = typeof told.provider === "string" ? dialectTold(told.provider, json) : undefined
    if (asked === undefined) return unknown
    const dialect = isSpoken(asked) ? asked : undefined
    return { ...unknown, asked, dialect, anatomy: readRequest(asked, json, NO_PATH) }
  } catch {
    return unknown
  }
}

/** One for each recorder, and gone with it. */
const memories = new WeakMap<EventBuilder, RequestMemory>()

export function memoryOf(builder: EventBuilder): RequestMemory {
  const memory = memories.get(builder) ?? createRequestMemory()
  memories.set(builder, memory)
  return memory
}

/** An unknown provider's call still is a model call when its JSON names a model. */
function modelNamed(request: WireRequest, { root }: JsonBody): string | null {
  if (request.method !== "POST" || root?.kind !== "object") return null
  const named = root.members.find(({ key }) => key === "model")?.value
  return named?.kind === "string" && named.value !== "" ? named.value : null
}

export function addressOf(request: WireRequest): { method: string; path: string; host?: string } {
  try {
    const url = new URL(request.url)
    return { method: request.method, path: url.pathname + url.search, host: url.host }
  } catch {
    return { method: request.method, path: request.url }
  }
}
