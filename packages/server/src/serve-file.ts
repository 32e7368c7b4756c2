import { rmSync } from "node:fs"
import { join } from "node:path"
import { asRecord, numberIn, textIn } from "@orangebox/contract"
import { readPrivateFile, replacePrivateFile } from "@orangebox/journal"

/** What a running server leaves in its data folder for others of the same user: where it is, and its key. */
export interface ServeFile {
  readonly pid: number
  readonly url: string
  readonly key: string
  readonly version: string
}

const pathIn = (dataFolder: string): string => join(dataFolder, "serve.json")

export function writeServeFile(dataFolder: string, file: ServeFile): void {
  replacePrivateFile(pathIn(dataFolder), `${JSON.stringify({ v: 1, ...file })}\n`)
}

/** Undefined where there is none, or none that can be read. */
export function readServeFile(dataFolder: string): ServeFile | undefined {
  try {
    const found = asRecord(JSON.parse(readPrivateFile(pathIn(dataFolder), 4096).toString("utf8"))) ?? {}
    const [pid, url, key, version] = [
      numberIn(found, "pid"),
      textIn(found, "url"),
      textIn(found, "key"),
      textIn(found, "version"),
    ]
    if (pid === undefined || url === undefined || key === undefined || version === undefined) return undefined
    return { pid, url, key, version }
  } catch {
    return undefined
  }
}

/** Only one's own: another server may have come after this one. */
export function removeServeFile(dataFolder: string, key: string): void {
  if (readServeFile(dataFolder)?.key === key) rmSync(pathIn(dataFolder), { force: true })
}
