import { existsSync } from "node:fs"
import { OrangeboxError } from "@orangebox/contract"
import type { IdDigest, TraceReader } from "../trace-store.js"
import { connectForReading, type ReadConnection } from "./connection.js"
import { SCHEMA_VERSION, schemaVersionOf } from "./schema.js"
import { SqliteReader } from "./sqlite-reader.js"
import { storeFiles } from "./store-files.js"

/** Opens the embedded store in a folder for reading only. */
export function openSqliteReader(folder: string, digestOf?: IdDigest): TraceReader {
  const files = storeFiles(folder)
  if (!existsSync(files.database)) {
    throw new OrangeboxError("STORE_MISSING", {
      what: "there is no store here",
      where: folder,
      next: "Record something first, or point to another data folder with ORANGEBOX_HOME",
    })
  }
  return new SqliteReader(files, undefined, digestOf)
}

/** The same where nothing has to be done to it first: it has the present schema and no damage on record. Else undefined. */
export function openReadySqliteStore(folder: string): TraceReader | undefined {
  const files = storeFiles(folder)
  if (!existsSync(files.database) || existsSync(files.damageMark)) return undefined
  let connection: ReadConnection | undefined
  try {
    connection = connectForReading(files)
    if (schemaVersionOf(connection.database) === SCHEMA_VERSION) return new SqliteReader(files, connection)
  } catch {
    // Opening it for writing says what is wrong, or mends it.
  }
  connection?.database.close()
  return undefined
}
