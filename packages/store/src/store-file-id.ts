import { statSync } from "node:fs"
import { boundCluster } from "./clickhouse/bound-folder.js"
import { storeFiles } from "./sqlite/store-files.js"

/** Which database stands in, or behind, a folder now; another one than was opened means that the store was replaced. Undefined where there is none. */
export function storeFileId(folder: string): string | undefined {
  const cluster = boundCluster(folder)
  if (cluster !== undefined) return `${cluster.url} ${cluster.database}`
  const found = statSync(storeFiles(folder).database, { throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}
