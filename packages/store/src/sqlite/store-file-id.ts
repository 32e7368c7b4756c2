import { statSync } from "node:fs"
import { storeFiles } from "./store-files.js"

/** Which database file stands in a folder now; another one than was opened means that the store was replaced. Undefined where there is none. */
export function storeFileId(folder: string): string | undefined {
  const found = statSync(storeFiles(folder).database, { throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}
