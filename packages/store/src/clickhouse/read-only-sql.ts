import { OrangeboxError } from "@orangebox/contract"
import { Connection } from "./connection.js"
import type { ClickhouseSettings } from "./settings.js"

/** Rows as a stranger's statement asks for them: the server lets nothing pass but reading, and no more than so much of it. */
export async function askClickhouse(
  settings: ClickhouseSettings,
  sql: string,
  limit: number,
): Promise<{ columns: string[]; rows: Record<string, unknown>[]; hasMore: boolean }> {
  const connection = new Connection(settings)
  try {
    const { columns, rows } = await connection.table(sql, limit + 1)
    return { columns, rows: rows.slice(0, limit), hasMore: rows.length > limit }
  } catch (error) {
    if (error instanceof OrangeboxError && error.code === "STORE_SERVER") {
      throw new OrangeboxError("SQL", { what: error.what, next: "Functions and operators are those of ClickHouse" })
    }
    if (error instanceof OrangeboxError && error.code === "STORE_READ_SQL") {
      throw new OrangeboxError("SQL", {
        what: "only reading statements are allowed",
        next: "Start with SELECT or WITH",
      })
    }
    throw error
  } finally {
    await connection.close()
  }
}
