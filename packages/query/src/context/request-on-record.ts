import {
  type Dialect,
  detectDialect,
  dialectTold,
  isSpoken,
  type JsonBody,
  type RequestAnatomy,
  readBody,
  readRequest,
} from "@orangebox/dialects"
import type { Bodies } from "./context-reading.js"
import type { RecordedContext } from "./recorded-contexts.js"

export interface ReadableRequest {
  readonly dialect: Dialect
  readonly body: JsonBody
  readonly anatomy: RequestAnatomy
}

/** The request of a context in its dialect; undefined where its bytes are not there, or in no dialect known here. */
export function readableRequest({ request, step }: RecordedContext, bodies: Bodies): ReadableRequest | undefined {
  const bytes = request && bodies.get(request.hash)
  if (!request || bytes === undefined) return undefined
  const body = readBody(bytes)
  const address = addressOf(request.url)
  try {
    // A call that was recorded by hand has no address; its body tells, or what was said of its provider, as when it was captured.
    const seen = detectDialect({ method: request.method ?? "POST", ...address, requestBody: body })?.dialect
    const told = seen ?? dialectTold(step.model?.provider ?? "", body)
    const dialect = told && isSpoken(told) ? told : undefined
    const anatomy = dialect && readRequest(dialect, body, address.path)
    return dialect && anatomy && { dialect, body, anatomy }
  } catch {
    // Whatever a hostile body does to its reader, the rest of the context is still told.
    return undefined
  }
}

function addressOf(url = ""): { path: string; host?: string } {
  // An error for each of a thousand calls without an address costs as much as reading them.
  if (!URL.canParse(url)) return { path: url }
  const { pathname, search, host } = new URL(url)
  return { path: pathname + search, host }
}
