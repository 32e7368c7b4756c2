import { isProviderSecret } from "@orangebox/dialects"
import { redactNamedText, redactText } from "@orangebox/redaction"
import type { Capture } from "./capture.js"

type HeaderList = readonly (readonly [name: string, value: string])[]

/**
 * What the process was given by its environment: the values of variables with telling names, and whatever else in them the rules find. An
 * agent prints its environment, writes it into files and sends it to models; there the names are gone.
 */
export function learnEnvironment(capture: Capture, environment: { readonly [name: string]: string | undefined }): void {
  const { known } = capture.ruleset
  if (known === undefined) return
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || value.length < SHORTEST || value.length > LONGEST) continue
    const named = redactNamedText(name, value, capture.ruleset)
    if (named.masks.length === 0) redactText(`${name}=${value}`, capture.ruleset)
  }
  known.pin()
}

/** What a request or an answer is authorised by: the model may be told it, and a tool may print it. */
export function learnHeaders(capture: Capture, headers: HeaderList): void {
  const { known } = capture.ruleset
  if (known === undefined) return
  for (const [name, value] of headers) {
    for (const credential of credentialsIn(name.toLowerCase(), value)) known.learn(credential)
  }
}

/** The password before the host, and what stands under a telling name in the query. */
export function learnAddress(capture: Capture, url: string): void {
  const { known } = capture.ruleset
  if (known === undefined || !/[@?]/.test(url)) return
  try {
    const { password, searchParams } = new URL(url)
    if (password !== "") known.learn(decodeURIComponent(password))
    for (const [name, value] of searchParams) {
      if (SECRET_QUERY.test(name)) known.learn(value)
      else redactNamedText(name, value, capture.ruleset)
    }
  } catch {
    // No address; its text is searched like any other.
  }
}

const SHORTEST = 6
const LONGEST = 16_384

const CREDENTIAL_HEADERS = new Set(["authorization", "proxy-authorization", "x-amz-security-token"])
const COOKIE_HEADERS = new Set(["cookie", "set-cookie"])
/** Not what names a session or signs one request: ids that the body may have to repeat. */
const CREDENTIAL_NAME = /(?:^|[-_])(?:token|secret|password|passwd|credentials?|api[-_]?key|auth[-_]?key)(?:$|[-_])/
const SECRET_QUERY = /^(?:key|api[-_]?key|token|access[-_]?token|auth|password|secret)$/i
const SCHEME = /^(?:Basic|Bearer|Token|Bot)\s+/i

function credentialsIn(name: string, value: string): string[] {
  if (COOKIE_HEADERS.has(name)) return cookieValues(value)
  const isCredential =
    CREDENTIAL_HEADERS.has(name) ||
    isProviderSecret(name) ||
    (CREDENTIAL_NAME.test(name) && !/ratelimit|csrf/.test(name))
  if (!isCredential) return []
  const scheme = SCHEME.exec(value)?.[0] ?? ""
  const credential = value.slice(scheme.length).trim()
  // Several parameters are no secret as a whole, and which of them is one the rules know.
  if (/[\s,;]/.test(credential)) return []
  if (!/^basic/i.test(scheme)) return [credential]
  const login = Buffer.from(credential, "base64").toString("utf8")
  return [credential, login.slice(login.indexOf(":") + 1)]
}

/** Long ones: a short one is a choice of language. */
function cookieValues(value: string): string[] {
  return value
    .split(";")
    .map((pair) => pair.slice(pair.indexOf("=") + 1).trim())
    .filter((one) => one.length >= 16 && /\d/.test(one) && /^[\w.%+/=~-]+$/.test(one))
}
