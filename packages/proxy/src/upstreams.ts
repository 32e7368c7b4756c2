import { isIP } from "node:net"
import { OrangeboxError } from "@orangebox/contract"

/** A server the proxy forwards to. There are no others: nothing in a request can name one. */
export interface Upstream {
  readonly name: string
  readonly origin: string
  readonly isTls: boolean
  readonly hostname: string
  readonly port: number
  /** As it goes into the Host header: without the port where that is the scheme's own. */
  readonly host: string
}

const NAME = /^[a-z0-9][a-z0-9.-]{0,63}$/

export function readUpstreams(origins: Readonly<Record<string, string>>): ReadonlyMap<string, Upstream> {
  return new Map(Object.entries(origins).map(([name, origin]) => [name, readUpstream(name, origin)]))
}

function readUpstream(name: string, origin: string): Upstream {
  const where = `upstream ${name}`
  if (!NAME.test(name)) {
    throw new OrangeboxError("UPSTREAM", {
      what: `"${name}" is no name for an upstream`,
      next: "Use a-z, 0-9, dot, dash",
    })
  }
  let url: URL
  try {
    url = new URL(origin)
  } catch {
    throw new OrangeboxError("UPSTREAM", { what: `"${origin}" is no URL`, where, next: "Give an origin: https://host" })
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw new OrangeboxError("UPSTREAM", {
      what: `${url.protocol} is not spoken here`,
      where,
      next: "Use https: or http:",
    })
  }
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "") {
    throw new OrangeboxError("UPSTREAM", {
      what: `"${url.origin}" is given with more than an origin`,
      where,
      next: "Leave out the path, the query and any login; a path belongs into the client's base URL",
    })
  }
  const isTls = url.protocol === "https:"
  return {
    name,
    origin: url.origin,
    isTls,
    hostname: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? (isTls ? 443 : 80) : Number(url.port),
    host: url.host,
  }
}

/** Link-local addresses are where clouds keep their credentials; a model does not live there. */
export function isSuspicious({ hostname }: Upstream): boolean {
  return isIP(hostname) === 4 ? hostname.startsWith("169.254.") : /^fe[89ab]/i.test(hostname)
}
