import { existsSync } from "node:fs"
import { OrangeboxError } from "@orangebox/contract"
import { copyPrivateFile, ensurePrivateFolder } from "@orangebox/journal"
import { listPacks, packPath } from "../bodies/pack-folder.js"
import { openDatabaseForReading } from "./open-database.js"
import { storeFiles } from "./store-files.js"

/**
 * Copies a store while a collector may be writing to it: the database as of one moment, then the packs, which only grow. A pack that is
 * rewritten or let go in between is missed by whoever reads the copy, so the copy has to be verified before it is called whole.
 */
export function copyStore(from: string, to: string): void {
  const [source, copy] = [storeFiles(from), storeFiles(to)]
  for (const folder of [to, copy.packs]) ensurePrivateFolder(folder)
  if (!existsSync(source.database)) {
    throw new OrangeboxError("STORE_MISSING", {
      what: "there is no store here",
      where: from,
      next: "Record something first",
    })
  }
  const database = openDatabaseForReading(source.database)
  try {
    database.prepare("VACUUM INTO ?").run(copy.database)
  } finally {
    database.close()
  }
  for (const pack of existsSync(source.packs) ? listPacks(source.packs) : []) {
    copyPrivateFile(packPath(source.packs, pack), packPath(copy.packs, pack))
  }
  // Last: a tombstone that is one too many keeps something out that was to be forgotten, one too few would bring it back.
  if (existsSync(source.tombstones)) copyPrivateFile(source.tombstones, copy.tombstones)
}
