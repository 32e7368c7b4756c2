import { isProviderSecret } from "@orangebox/dialects"
import { MASK_MIDDLE, maskedSecret } from "@orangebox/redaction"

export type HeaderList = readonly (readonly [name: string, value: string])[]

const SECRET_HEADERS = new Set([
  "authorization",
  "proxy-authorization",
  "cookie",
  "set-cookie",
  "x-amz-security-token",
  "x-auth-token",
  "x-orangebox-token",
])
const SECRET_NAME =
  /(?:^|[-_])(?:token|secret|password|passwd|credential|api[-_]?key|auth|signature|session)(?:$|[-_])/i

export function headerOf(headers: HeaderList, name: string): string | undefined {
  return headers.find(([key]) => key.toLowerCase() === name)?.[1]
}

/** Headers as they may be stored: all of them, in order, the secret ones masked. */
export function safeHeaders(headers: HeaderList): [string, string][] {
  return headers.map(([name, value]) => [name, isSecretHeader(name) ? maskedCredential(value) : value])
}

function isSecretHeader(name: string): boolean {
  const lower = name.toLowerCase()
  if (SECRET_HEADERS.has(lower) || isProviderSecret(lower)) return true
  // Limits of tokens look secret and are not.
  return SECRET_NAME.test(lower) && !/ratelimit/.test(lower)
}

// The scheme is not secret, and without it a Basic login and a Bearer token look the same.
function maskedCredential(value: string): string {
  const scheme = /^(Basic|Bearer|Digest|Token|AWS4-HMAC-SHA256)\s+/i.exec(value)?.[0] ?? ""
  return scheme + maskedSecret(value.slice(scheme.length))
}

const SECRET_QUERY = /^(?:key|api[-_]?key|token|access[-_]?token|auth|sig|signature|password|secret)$/i

/**
 * A URL as it may be stored: keys in its query and a password before its host are masked.
 * @param redact what is said about the rest of it, which is searched in its decoded form
 */
export function safeUrl(url: string, redact: (text: string) => string = (text) => text): string {
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch {
    return url.replace(/([?&][^=&]*(?:key|token|secret|sig)[^=&]*=)[^&#]*/gi, `$1${MASK_MIDDLE}`)
  }
  if (parsed.username !== "" || parsed.password !== "") {
    parsed.username = ""
    parsed.password = ""
  }
  // Rebuilt by hand: URLSearchParams would also re-encode what is not secret.
  const query = parsed.search
    .slice(1)
    .split("&")
    .map((pair) => {
      const [name = "", ...rest] = pair.split("=")
      if (rest.length > 0 && SECRET_QUERY.test(decode(name))) return `${name}=${maskedSecret(decode(rest.join("=")))}`
      return searched(pair, redact)
    })
    .join("&")
  parsed.search = ""
  const path = parsed.pathname
    .split("/")
    .map((part) => searched(part, redact))
    .join("/")
  const hash = parsed.hash
  parsed.hash = ""
  return `${parsed.protocol}//${parsed.host}${path}${query === "" ? "" : `?${query}`}${searched(hash, redact)}`
}

/** The same text unless something was found in what it stands for. */
function searched(text: string, redact: (text: string) => string): string {
  const decoded = decode(text)
  const redacted = redact(decoded)
  return redacted === decoded ? text : redacted
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
