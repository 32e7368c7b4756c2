import { isMask } from "../mask.js"
import type { Found, Rule } from "../rule.js"
import { isPlaceholder } from "./placeholder.js"

// A user may be an e-mail address, and a password may hold an unescaped `@`: the last one before the host counts.
const USER_INFO =
  /:\/\/([^\s/:@"'`<>\\]{0,100}(?:@[\w.-]{1,80})?):([^\s/@"'`<>\\]{1,200}(?:@[^\s/?#&=,:@"'`<>\\]{1,60}){0,2})@[\w[]/y
const OAUTH_BASIC = /:\/\/([A-Za-z0-9_-]{20,255})(?::x-oauth-basic)?@[\w[]/y

/** The password in `scheme://user:password@host`, of databases, brokers and repositories alike. The rest of the address stays. */
export const connectionString: Rule = {
  id: "connection-string",
  about: "Passwords in addresses (scheme://user:password@host)",
  keywords: ["://"],
  patterns: [USER_INFO, OAUTH_BASIC],
  find(text, at) {
    return passwordOf(text, at) ?? loneTokenOf(text, at)
  },
}

function passwordOf(text: string, at: number): Found | undefined {
  USER_INFO.lastIndex = at
  const match = USER_INFO.exec(text)
  if (match === null) return undefined
  const [, user = "", password = ""] = match
  if (isMask(password) || isPlaceholder(password) || OPEN_PASSWORDS.has(password.toLowerCase())) return undefined
  if (password === "x-oauth-basic") return undefined
  const start = at + 3 + user.length + 1
  return { start, end: start + password.length }
}

/** `https://<token>@host`: the user is the secret. */
function loneTokenOf(text: string, at: number): Found | undefined {
  OAUTH_BASIC.lastIndex = at
  const token = OAUTH_BASIC.exec(text)?.[1]
  if (token === undefined || !/\d/.test(token) || isPlaceholder(token)) return undefined
  return { start: at + 3, end: at + 3 + token.length }
}

/** What stands for a password where an address is explained. */
const OPEN_PASSWORDS = new Set(["password", "pass", "passwd", "pwd", "token", "port", "[password]", "@"])

const STORAGE_KEY = /(?:AccountKey|SharedAccessKey|SharedSecretValue|SharedAccessSignature) {0,2}= {0,2}/iy
const KEY_VALUE = /[A-Za-z0-9+/%&=_.:-]{32,300}/y

/** The key in an Azure connection string. */
export const azureConnectionString: Rule = {
  id: "azure-connection-string",
  about: "Keys in Azure connection strings",
  keywords: ["accountkey", "sharedaccesskey", "sharedsecretvalue", "sharedaccesssignature"],
  patterns: [STORAGE_KEY, KEY_VALUE],
  find(text, at) {
    STORAGE_KEY.lastIndex = at
    if (!STORAGE_KEY.test(text)) return undefined
    const start = STORAGE_KEY.lastIndex
    KEY_VALUE.lastIndex = start
    const value = KEY_VALUE.exec(text)?.[0]
    return value === undefined || isPlaceholder(value) ? undefined : { start, end: start + value.length }
  },
}

const SIGNATURE =
  /(?:sig|X-Amz-Signature|X-Goog-Signature|X-Amz-Security-Token|Signature)=([A-Za-z0-9%+/=_~-]{32,1500})/iy

/** The signature of a signed address: whoever has it, has what it opens. */
export const signedAddress: Rule = {
  id: "signed-address",
  about: "Signatures of signed addresses (Azure SAS, S3, Google Storage)",
  keywords: ["?sig=", "&sig=", "x-amz-signature=", "x-goog-signature=", "x-amz-security-token="],
  patterns: [SIGNATURE],
  find(text, at) {
    const from = at + (/[?&]/.test(text.charAt(at)) ? 1 : 0)
    SIGNATURE.lastIndex = from
    const match = SIGNATURE.exec(text)
    if (match === null) return undefined
    const value = match[1]!
    const end = SIGNATURE.lastIndex
    return isPlaceholder(value) ? undefined : { start: end - value.length, end }
  },
}
