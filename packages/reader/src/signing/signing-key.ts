import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto"
import { readFileSync, statSync } from "node:fs"
import { advice, type BodyHash, bodyHash, InputError, suggested } from "@orangebox/contract"

/** A new Ed25519 pair, as the two files that other programs read too. */
export function newSigningKey(): { readonly privatePem: string; readonly publicPem: string; readonly id: BodyHash } {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  return {
    privatePem: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    publicPem: publicKey.export({ type: "spki", format: "pem" }) as string,
    id: keyId(publicKey),
  }
}

/** The name of a key: the hash of its public half. */
export const keyId = (key: KeyObject): BodyHash =>
  bodyHash((key.type === "private" ? createPublicKey(key) : key).export({ type: "spki", format: "der" }))

/** Refuses a key that others can read: what they sign would be signed in this name. */
export function readSigningKey(path: string): KeyObject {
  const pem = readKeyFile(path)
  if (process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0) {
    throw new InputError("KEY_FILE", {
      what: "others can read this private key, and could sign in its name",
      where: path,
      next: `Run: chmod 600 ${JSON.stringify(path)}`,
    })
  }
  return ed25519(path, () => createPrivateKey(pem), "a private Ed25519 key")
}

/** The public half; a private key is taken for it too. */
export function readPublicKey(path: string): KeyObject {
  const pem = readKeyFile(path)
  return ed25519(path, () => createPublicKey(pem), "an Ed25519 key")
}

/** More than any key is long. */
const MOST_BYTES = 65_536

function readKeyFile(path: string): string {
  try {
    if (statSync(path).size > MOST_BYTES) throw notAKey(path, "a key")
    return readFileSync(path, "utf8")
  } catch (cause) {
    if (cause instanceof InputError) throw cause
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT"
    throw new InputError(isMissing ? "NO_FILE" : "CANNOT_READ", {
      what: isMissing ? "there is no such key file" : "the key file cannot be read",
      where: path,
      next: advice`Make a pair of keys with ${suggested("sign", "--new-key FILE")}`,
      cause,
    })
  }
}

function ed25519(path: string, read: () => KeyObject, what: string): KeyObject {
  let key: KeyObject
  try {
    key = read()
  } catch {
    throw notAKey(path, what)
  }
  if (key.asymmetricKeyType !== "ed25519") throw notAKey(path, what)
  return key
}

const notAKey = (path: string, what: string): InputError =>
  new InputError("KEY_FILE", {
    what: `the file is not ${what} in PEM form`,
    where: path,
    next: advice`Make a pair of keys with ${suggested("sign", "--new-key FILE")}`,
  })
