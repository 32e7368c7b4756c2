import { timingSafeEqual } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Upstream } from "./upstreams.js"

/** Where a request goes, or why it goes nowhere. */
export type Route = Target | Refusal

export interface Target {
  readonly upstream: Upstream
  /** Path and query as the upstream gets them. */
  readonly path: string
}

/** An answer of the proxy's own. */
export interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
}

export interface Door {
  readonly port: number
  readonly token: string
  readonly upstreams: ReadonlyMap<string, Upstream>
}

/**
 * The only thing that chooses an upstream is its configured name in the path, and only behind the token. Host and Origin are checked against
 * pages in a browser that try to reach us under a name of their own.
 */
export function routeOf(request: Pick<IncomingMessage, "method" | "url" | "rawHeaders">, door: Door): Route {
  const hosts = valuesOf(request.rawHeaders, "host")
  if (hosts.length !== 1 || !isOurHost(hosts[0]!, door.port)) {
    return { status: 403, code: "host", message: `the Host header must be 127.0.0.1:${door.port}` }
  }
  const origins = valuesOf(request.rawHeaders, "origin")
  if (origins.length > 0) {
    return { status: 403, code: "origin", message: "requests from web pages are not forwarded" }
  }
  const target = request.url ?? ""
  if (request.method === "CONNECT" || !target.startsWith("/")) {
    return { status: 400, code: "target", message: "this is no forward proxy: use its URL as the base URL of a client" }
  }
  const [, token = "", name = "", rest = ""] = /^\/([^/?#]*)(?:\/([^/?#]*)([^#]*))?/.exec(target) ?? []
  if (!isSame(token, door.token)) {
    return { status: 404, code: "token", message: "the path does not begin with the token of a running recording" }
  }
  const upstream = door.upstreams.get(name)
  if (upstream === undefined) {
    const known = [...door.upstreams.keys()].join(", ")
    return { status: 404, code: "upstream", message: `there is no upstream of that name; configured: ${known}` }
  }
  return { upstream, path: upstream.pathFor(rest.startsWith("/") ? rest : `/${rest}`) }
}

/** The values of every header of that name: a second Host header is an attack, and `headers` would hide it. */
export function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]!.toLowerCase() === name) values.push(rawHeaders[index + 1]!)
  }
  return values
}

function isOurHost(host: string, port: number): boolean {
  return host === `127.0.0.1:${port}` || host === `localhost:${port}`
}

function isSame(given: string, token: string): boolean {
  const a = Buffer.from(given)
  const b = Buffer.from(token)
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Answers in our own name, and says so: a client must never take this for the upstream's word. */
export function refuse(response: ServerResponse, refusal: Refusal): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const body = JSON.stringify({
    error: { type: "orangebox_proxy", code: refusal.code, message: `orangebox proxy: ${refusal.message}` },
  })
  response.writeHead(refusal.status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-orangebox-proxy": refusal.code,
    connection: "close",
  })
  response.end(body)
}
