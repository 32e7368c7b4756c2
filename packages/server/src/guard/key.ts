import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"
import { join } from "node:path"
import { InputError } from "@orangebox/contract"
import { readPrivateFile, replacePrivateFile } from "@orangebox/journal"

/** 256 bits that nobody guesses, as text for a header. */
export const freshKey = (): string => randomBytes(32).toString("base64url")

/** Whether a request carries the key. Only its header counts: what stands in a URL ends up in logs and histories. */
export function checkKey({ authorization }: IncomingHttpHeaders, key: string, next: string): void {
  const [, given] = /^Bearer ([\w-]{1,200})$/i.exec(authorization ?? "") ?? []
  if (given !== undefined && isSame(given, key)) return
  throw new InputError("NO_KEY", {
    what: given === undefined ? "this needs the key of the server" : "this is not the key of this server",
    next,
  })
}

const isSame = (given: string, key: string): boolean => timingSafeEqual(digest(given), digest(key))

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()

const STANDING_KEY = "serve-key"

/** The key of a data folder that stays when the server stops: what clients and exporters are configured with. Made where there is none. */
export function standingKey(dataFolder: string, { isRotated = false } = {}): string {
  const path = join(dataFolder, STANDING_KEY)
  if (!isRotated) {
    try {
      const found = readPrivateFile(path, 1024).toString("utf8").trim()
      if (/^[\w-]{43}$/.test(found)) return found
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
    }
  }
  const key = freshKey()
  replacePrivateFile(path, `${key}\n`)
  return key
}
