import { MASK_MIDDLE } from "@orangebox/contract"
import { plural } from "@orangebox/text"
import type { CallKind, TapeCall } from "../tape/tape.js"

/**
 * The addresses of two questions, part by part as they were recorded: a signature reads of an address only what its dialect knows, and sorts
 * the query. What is excepted is counted, so that a certificate can name it.
 */
export class ComparedAddresses {
  readonly #isBehindProxy: boolean
  #hosts = 0
  #untold = 0
  readonly #masked = new Map<string, number>()

  constructor(covers: readonly CallKind[]) {
    this.#isBehindProxy = !covers.includes("tool")
  }

  *differences(was: TapeCall, is: TapeCall): Generator<readonly [what: string, was: string, is: string]> {
    // A call that an application told of has no address: its model stands for it.
    if (was.kind === "model") yield ["model", was.name, is.name]
    if (was.request.url === null && is.request.url === null) return
    if (was.request.url === null || is.request.url === null) {
      this.#untold++
      return
    }
    const [a, b] = [addressIn(was), addressIn(is)]
    yield ["method", was.request.method ?? "", is.request.method ?? ""]
    if (this.#isBehindProxy || a.isOfProxy || b.isOfProxy) this.#hosts++
    else yield ["host", a.origin, b.origin]
    yield ["path", a.path, b.path]
    yield ["query", a.query.join("&"), b.query.join("&")]
    // A mask says little of what it stands for. Where only one of the recorders made tags there is nothing to hold them against.
    const areTold = was.request.urlTags !== null && is.request.urlTags !== null
    if (areTold) yield ["masked parts of the address", was.request.urlTags!, is.request.urlTags!]
    const told = new Set(areTold ? placesIn(was.request.urlTags!) : [])
    for (const place of new Set(a.masked.filter((place) => !told.has(place))))
      this.#masked.set(place, (this.#masked.get(place) ?? 0) + 1)
  }

  excepted(): { readonly what: string; readonly why: string }[] {
    const found = [...this.#masked].map(([place, count]) => ({
      what: `${place === PATH ? "what is masked in the path" : `the value of ${place}`} of ${plural(count, "question")}`,
      why: place === PATH ? "it was masked, and not tagged" : "it was masked: who asks is no part of a question",
    }))
    if (this.#untold > 0)
      found.push({
        what: `the address of ${plural(this.#untold, "question")}`,
        why: "one of the runs told it as one value, and sent nothing",
      })
    if (this.#hosts > 0)
      found.push({
        what: `the host of ${plural(this.#hosts, "question")}`,
        why: "the agent asks the proxy, and where that would send it is for the settings of the proxy to say",
      })
    return found
  }
}

interface Address {
  readonly origin: string
  readonly path: string
  /** In the order in which it was sent: servers read the first or the last of two equal names. */
  readonly query: readonly string[]
  /** Where something is masked: `path`, or `?` and the name of a parameter. */
  readonly masked: readonly string[]
  /** An SDK that was led through our proxy: host and port are new in every run. */
  readonly isOfProxy: boolean
}

function addressIn({ request }: TapeCall): Address {
  const [, origin = "", sent = "", search = ""] = ADDRESS.exec(request.url ?? "") ?? []
  const path = sent.replace(PROXY_DOOR, "")
  const masked = isMasked(path) ? [PATH] : []
  const query = search.split("&").map((pair) => {
    if (!isMasked(pair)) return pair
    const name = pair.split("=", 1)[0]!
    masked.push(`?${name}`)
    return `${name}=${MASK_MIDDLE}`
  })
  return { origin, path, query, masked, isOfProxy: path !== sent }
}

const ADDRESS = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)?([^?#]*)(?:\?([^#]*))?/i

/** Its token, taken out, and the name of an upstream: what comes before the address that is asked. */
const PROXY_DOOR = /^\/obxproxy_[^/]*\/[^/]+/

const PATH = "path"

/** Of tags as the recorder writes them: `place=digest`, with spaces between. */
const placesIn = (tags: string): string[] => tags.split(" ").map((tag) => tag.slice(0, tag.lastIndexOf("=")))

const isMasked = (pair: string): boolean => pair.includes(MASK_MIDDLE) || pair.includes(encodeURIComponent(MASK_MIDDLE))
