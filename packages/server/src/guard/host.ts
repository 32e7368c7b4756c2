import { InputError } from "@orangebox/contract"
import { recordedWord } from "@orangebox/text"

/**
 * The hosts that requests may name. A page of another site can make its own name point at this machine (DNS rebinding) and would then be of
 * the same origin; its name in `Host` is what it cannot change.
 */
export function allowedHosts(port: number, more: readonly string[] = []): ReadonlySet<string> {
  return new Set(["127.0.0.1", "[::1]", "localhost", ...more].map((name) => `${name.toLowerCase()}:${port}`))
}

export function checkHost(rawHeaders: readonly string[], allowed: ReadonlySet<string>): string {
  const hosts = rawHeaders.flatMap((name, at) =>
    at % 2 === 0 && name.toLowerCase() === "host" ? [rawHeaders[at + 1]!.toLowerCase()] : [],
  )
  const [host] = hosts
  if (host !== undefined && hosts.length === 1 && allowed.has(host)) return host
  throw new InputError("OTHER_HOST", {
    what: `this server does not answer to ${host === undefined ? "a request without a host" : recordedWord(host, 80)}`,
    next: `Ask for one of: ${[...allowed].join(", ")}`,
  })
}
