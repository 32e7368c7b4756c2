import { randomBytes } from "node:crypto"

const PREFIX = "obxproxy_"
const FORM = /obxproxy_[0-9a-f]{32}/g

/**
 * The path part that lets a client into a running proxy. It has a form of its own, so that a recorder of addresses can leave it out.
 * @param secret 16 bytes; random ones by default
 */
export function newProxyToken(secret: Uint8Array = randomBytes(16)): string {
  return PREFIX + Buffer.from(secret).toString("hex")
}

/** The text without such parts. What stands for them is the same for every proxy, and may stand in a URL as it is. */
export function maskProxyTokens(text: string): string {
  return text.replace(FORM, `${PREFIX}redacted`)
}
