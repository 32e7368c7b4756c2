import { isBehaviourHeader, isProviderSecret } from "@orangebox/dialects"
import { MASK_MIDDLE, maskedSecret } from "@orangebox/redaction"

export type HeaderList = readonly (readonly [name: string, value: string])[]

const SECRET_NAME =
  /(?:^|[-_])(?:token|secret|password|passwd|credential|api[-_]?key|auth|authorization|signature|session|cookie|jwt|hmac)(?:$|[-_])/i
/** Limits of tokens look secret and are not. */
const RATE_LIMIT = /(?:^|-)ratelimit(?:$|-)/

/** What may be read: everything that HTTP itself, proxies and tracing say about a message, and what clients say about themselves. */
const READABLE = new Set(
  `accept accept-charset accept-encoding accept-language accept-ranges age allow alt-svc cache-control cf-cache-status cf-ray
  connection content-disposition content-encoding content-language content-length content-location content-range
  content-security-policy content-type cross-origin-opener-policy cross-origin-resource-policy date dnt etag expect expires
  from host http-referer idempotency-key if-match if-modified-since if-none-match keep-alive last-modified link location
  max-forwards nel origin permissions-policy pragma priority proxy-connection range referer referrer-policy report-to
  retry-after server server-timing strict-transport-security te timing-allow-origin traceparent tracestate trailer
  transfer-encoding upgrade upgrade-insecure-requests user-agent vary via warning x-app x-cache x-cache-hits
  x-cloud-trace-context x-content-type-options x-dns-prefetch-control x-download-options x-frame-options x-powered-by
  x-real-ip x-robots-tag x-served-by x-should-retry x-timer x-title x-xss-protection`.split(/\s+/),
)
const READABLE_FAMILY = /^(?:access-control-|sec-(?:fetch|ch)-|x-forwarded-|x-b3-|x-orangebox-)/
/** Whatever vendor puts its name before it. */
const READABLE_END =
  /(?:^|[-_])(?:version|beta|ms|model|request-?id|trace-?id|count|lang|os|arch|runtime|timeout|method|async|retry|attempt|stream|region|environment)$/

export function headerOf(headers: HeaderList, name: string): string | undefined {
  return headers.find(([key]) => key.toLowerCase() === name)?.[1]
}

/** Headers as they may be stored: all of them, in order; those that are not known to be harmless are masked. */
export function safeHeaders(headers: HeaderList): [string, string][] {
  return headers.map(([name, value]) => [name, safeHeader(name.toLowerCase(), value)])
}

function safeHeader(name: string, value: string): string {
  if (!isReadable(name)) return maskedCredential(value)
  return ADDRESSES.has(name) && /[?@]/.test(value) ? safeUrl(value).url : value
}

/** What a redirect hands over stands in its query, as in that of a request. */
const ADDRESSES = new Set(["location", "content-location", "referer", "http-referer", "origin"])

function isReadable(name: string): boolean {
  if (RATE_LIMIT.test(name)) return true
  if (isProviderSecret(name) || SECRET_NAME.test(name)) return false
  return READABLE.has(name) || READABLE_FAMILY.test(name) || READABLE_END.test(name) || isBehaviourHeader(name)
}

// The scheme is not secret, and without it a Basic login and a Bearer token look the same.
function maskedCredential(value: string): string {
  const scheme = /^(Basic|Bearer|Digest|Token|AWS4-HMAC-SHA256)\s+/i.exec(value)?.[0] ?? ""
  return scheme + maskedSecret(value.slice(scheme.length))
}

/** What asks for a page, a format or a version, and opens nothing. */
const READABLE_QUERY =
  /^(?:alt|api-?version|beta|before|after|cursor|dimensions?|fields|filter|format|from|id|include|lang(?:uage)?|limit|locale|model|offset|order(?:_by)?|page(?:_?size)?|prettyprint|purpose|q|query|region|search|size|sort|start|status|stream|timeout|to|type|user|v|version|view|x-id)$/i
const CREDENTIAL_QUERY =
  /(?:^|[-_.])(?:key|api-?key|token|auth|authorization|sig|signature|password|passwd|pwd|secret|code|session|sid|jwt|hmac|ticket|otp|credential|assertion|nonce|security-token)(?:$|[-_.])/i
/** A number, a short word, words: these let no one in. */
const PLAIN_VALUE = /^(?:[\w.:-]{0,7}|\d{1,20}|[A-Za-z]+(?:[ _.-][A-Za-z]+){0,8})$/

function isCredential(name: string, value: string): boolean {
  if (CREDENTIAL_QUERY.test(name)) return true
  return !READABLE_QUERY.test(name) && !PLAIN_VALUE.test(value)
}

/** A URL as it may be stored, and what was masked in it, decoded, by where it stands: `path`, or `?` and the name of a parameter. */
export interface SafeUrl {
  readonly url: string
  readonly masked: readonly { readonly place: string; readonly text: string }[]
}

/**
 * A password before the host is gone, and of the query what is not known to be harmless is masked. What stands under the name of a credential
 * is not told as masked: it says who asks, and not what.
 * @param redact what is said about the rest of it, which is searched in its decoded form
 */
export function safeUrl(url: string, redact: Redact = (text) => text): SafeUrl {
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch {
    return { url: url.replace(/([?&][^=&#]{1,80}=)[^&#]{8,}/g, `$1${MASK_MIDDLE}`), masked: [] }
  }
  if (parsed.username !== "" || parsed.password !== "") {
    parsed.username = ""
    parsed.password = ""
  }
  const masked: { place: string; text: string }[] = []
  /** The same text unless something was found in what it stands for. */
  const searched = (text: string, place: string): string => {
    const decoded = decode(text)
    const redacted = redact(decoded)
    if (redacted === decoded) return text
    masked.push({ place, text: decoded })
    return redacted
  }
  const path = parsed.pathname
    .split("/")
    .map((part) => searched(part, "path"))
    .join("/")
  // Rebuilt by hand: URLSearchParams would also re-encode what is not secret.
  const query = parsed.search
    .slice(1)
    .split("&")
    .map((pair) => {
      const [name = "", ...rest] = pair.split("=")
      const value = decode(rest.join("="))
      const place = `?${name}`
      if (value === "" || !isCredential(decode(name), value)) return searched(pair, place)
      if (!CREDENTIAL_QUERY.test(decode(name))) masked.push({ place, text: value })
      return `${name}=${maskedSecret(value)}`
    })
    .join("&")
  const hash = searched(parsed.hash, "#")
  return { url: `${parsed.protocol}//${parsed.host}${path}${query === "" ? "" : `?${query}`}${hash}`, masked }
}

type Redact = (text: string) => string

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
