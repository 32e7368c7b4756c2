import { createHmac } from "node:crypto"
import { newProxyToken } from "@orangebox/contract"
import { openStoreKey } from "@orangebox/journal"

/** Below the ports that systems hand out themselves, above those that services are known by. */
const FIRST_PORT = 20_000
const PORTS = 12_000

/**
 * Where the proxy of a data folder is found every time: an address that can stand in a client's settings file. Both parts come from the
 * folder's key, so there is nothing to keep, and only who can read the key can know the secret one.
 */
export function stableAddress(folder: string): { readonly port: number; readonly token: string } {
  const digest = createHmac("sha256", openStoreKey(folder)).update("the address of the proxy").digest()
  return { port: FIRST_PORT + (digest.readUInt32BE(16) % PORTS), token: newProxyToken(digest.subarray(0, 16)) }
}
