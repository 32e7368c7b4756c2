import { isIP } from "node:net"
import { OrangeboxError } from "@orangebox/contract"
import { providerAccesses, versionedPath } from "@orangebox/dialects"

/** A server the proxy forwards to. There are no others: nothing in a request can name one. */
export interface Upstream {
  readonly name: string
  readonly origin: string
  readonly isTls: boolean
  readonly hostname: string
  readonly port: number
  /** As it goes into the Host header: without the port where that is the scheme's own. */
  readonly host: string
  /** The path a request is sent on to, from the one its client built behind our address. */
  pathFor(pathAndQuery: string): string
}

const NAME = /^[a-z0-9][a-z0-9.-]{0,63}$/

/** @param versioned the names of those whose clients may leave out the version of the API */
export function readUpstreams(
  origins: Readonly<Record<string, string>>,
  versioned: readonly string[] = [],
): ReadonlyMap<string, Upstream> {
  const accesses = providerAccesses().filter(({ name }) => versioned.includes(name))
  return new Map(
    Object.entries(origins).map(([name, origin]) => {
      const access = accesses.find((candidate) => candidate.name === name)
      const pathFor = (path: string): string => (access ? versionedPath(access, path) : path)
      return [name, { ...readUpstream(name, origin), pathFor }]
    }),
  )
}

function readUpstream(name: string, origin: string): Omit<Upstream, "pathFor"> {
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
    throw new OrangeboxError("UPSTREAM", { what: "its address is no URL", where, next: "Give an origin: https://host" })
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
export function isSuspicious({ hostname }: Pick<Upstream, "hostname">): boolean {
  return isIP(hostname) === 4 ? hostname.startsWith("169.254.") : /^fe[89ab]/i.test(hostname)
}
