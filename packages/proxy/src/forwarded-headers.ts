import { CACHE_USE_HEADER, STEP_HEADER } from "@orangebox/recorder"
import type { Upstream } from "./upstreams.js"

type Pairs = readonly (readonly [name: string, value: string])[]

/** Headers that speak about one connection, not about the message (RFC 9110, 7.6.1). */
const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "transfer-encoding",
  "upgrade",
])

export function pairsOf(rawHeaders: readonly string[]): Pairs {
  const pairs: [string, string][] = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    pairs.push([rawHeaders[index]!, rawHeaders[index + 1]!])
  }
  return pairs
}

/** Said to this proxy alone. */
const OURS = new Set([STEP_HEADER, CACHE_USE_HEADER])

/** What is sent on: the client's headers in their order and spelling, with the upstream's Host in the place of ours. */
export function requestHeaders(received: Pairs, upstream: Upstream): Pairs {
  return endToEnd(received)
    .filter(([name]) => !OURS.has(name.toLowerCase()))
    .map(([name, value]): readonly [string, string] => [name, name.toLowerCase() === "host" ? upstream.host : value])
}

/** How the body is framed, which is the one thing about a connection that has to be said again. */
export function framingOf(received: Pairs, method: string | undefined): Pairs {
  if (headerIn(received, "transfer-encoding") !== undefined) return [["Transfer-Encoding", "chunked"]]
  if (headerIn(received, "content-length") !== undefined || !METHODS_WITH_BODY.has(method ?? "")) return []
  // Without a word about its length node would announce chunks, and some servers refuse those.
  return [["Content-Length", "0"]]
}

const METHODS_WITH_BODY = new Set(["POST", "PUT", "PATCH"])

export const responseHeaders = (received: Pairs): Pairs => endToEnd(received)

function endToEnd(received: Pairs): Pairs {
  const named = new Set<string>()
  for (const [name, value] of received) {
    if (name.toLowerCase() !== "connection") continue
    for (const option of value.split(",")) named.add(option.trim().toLowerCase())
  }
  return received.filter(([name]) => {
    const lower = name.toLowerCase()
    return !HOP_BY_HOP.has(lower) && !named.has(lower)
  })
}

export const flatHeaders = (pairs: Pairs): string[] => pairs.flat()

export function headerIn(pairs: Pairs, name: string): string | undefined {
  return pairs.find(([key]) => key.toLowerCase() === name)?.[1]
}
