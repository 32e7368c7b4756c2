import { boundCluster } from "./clickhouse/bound-folder.js"
import { askClickhouse } from "./clickhouse/read-only-sql.js"
import { openReadOnlySql } from "./sqlite/read-only-sql.js"

export interface SqlAnswered {
  readonly columns: readonly string[]
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  readonly hasMore: boolean
}

/** Runs one statement that only reads, in the language of whichever engine the folder's recordings are in. */
export async function querySql(folder: string, sql: string, limit: number): Promise<SqlAnswered> {
  const cluster = boundCluster(folder)
  if (cluster !== undefined) return askClickhouse(cluster, sql, limit)
  const connection = openReadOnlySql(folder)
  try {
    return connection.query(sql, [], { limit })
  } finally {
    connection.close()
  }
}
