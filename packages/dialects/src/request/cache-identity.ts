import { type BodyHash, canonicalJsonNode, textHash } from "@orangebox/contract"
import type { RequestDialect } from "../dialect.js"
import { behaviourHeadersOf, providerAccesses } from "../dialects.js"
import { memberOf } from "../json/node.js"
import type { RequestAnatomy } from "./read-request.js"

type Headers = Readonly<Record<string, string | undefined>>

/**
 * Of everything beside the prompt and the model that decides whether a cached prefix may be used: the dialect's settings, and the headers that
 * change what a server does. Equal where none is set.
 */
export function cacheParamsDigest(asked: RequestDialect, { params }: RequestAnatomy, headers: Headers): BodyHash {
  const settings = (asked.cacheParams ?? []).flatMap((path) => {
    const [name, ...inner] = path.split("/")
    let value = Object.hasOwn(params, name!) ? params[name!] : undefined
    for (const key of inner) value = memberOf(value, key)
    return value === undefined ? [] : [`${path}=${canonicalJsonNode(value)}`]
  })
  return textHash(["cache-params", ...settings, ...behaviourHeadersOf(headers)].join("\0"))
}

/** What the request asks its provider to find its cache by. */
export function cacheKeyOf(asked: RequestDialect, { params }: RequestAnatomy): string | null {
  const member = asked.cacheKeyMember
  const value = member !== undefined && Object.hasOwn(params, member) ? params[member] : undefined
  return value?.kind === "string" && value.value !== "" ? value.value : null
}

/** Whom the provider takes the caller for, from the headers and the query by which it proves it. Never to be stored. */
export function credentialsOf(headers: Headers, path: string): string | null {
  const names = new Set(providerAccesses().flatMap(({ secretHeaders }) => secretHeaders))
  const sent = [...names].sort().flatMap((name) => (headers[name] === undefined ? [] : [`${name}: ${headers[name]}`]))
  const key = /[?&]key=([^&#]+)/.exec(path)?.[1]
  if (key !== undefined) sent.push(`key: ${key}`)
  return sent.length === 0 ? null : sent.join("\0")
}
