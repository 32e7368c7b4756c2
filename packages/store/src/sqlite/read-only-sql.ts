import { existsSync } from "node:fs"
import { OrangeboxError } from "@orangebox/contract"
import { openForReading } from "./connection.js"
import type { SqliteRow, SqliteValue } from "./driver.js"
import { storeFiles } from "./store-files.js"
import { viewNames } from "./views.js"

export interface SqlResult {
  readonly columns: readonly string[]
  readonly rows: readonly SqliteRow[]
  /** Whether there are more rows than were asked for. */
  readonly hasMore: boolean
}

export interface ReadOnlySql {
  /** Runs one statement that only reads. */
  query(sql: string, values?: readonly SqliteValue[], options?: { limit?: number }): SqlResult
  close(): void
}

const DEFAULT_LIMIT = 1000

// SQLite's action codes, which the authorizer is asked about.
const ACTION = { pragma: 19, read: 20, select: 21, function: 31, recursive: 33 } as const
const OK = 0
const DENY = 1
const READING_PRAGMAS = new Set([
  "table_info",
  "table_xinfo",
  "table_list",
  "index_list",
  "index_info",
  "function_list",
  "data_version",
])

/**
 * A connection for other people's SQL: opened read-only, `query_only`, and with an authorizer that lets nothing pass but reading.
 * So no ATTACH, no PRAGMA that sets anything, no extension, no write. A statement may take as long as it takes: a caller that offers this to
 * strangers runs it in a process that can be ended.
 */
export function openReadOnlySql(folder: string): ReadOnlySql {
  const { database: path } = storeFiles(folder)
  if (!existsSync(path)) {
    throw new OrangeboxError("STORE_MISSING", {
      what: "there is no store here",
      where: folder,
      next: "Record something first",
    })
  }
  const database = openForReading(path)
  database.setAuthorizer?.((action, first, second) => {
    switch (action) {
      case ACTION.select:
      case ACTION.read:
      case ACTION.recursive:
        return OK
      case ACTION.function:
        return second?.toLowerCase() === "load_extension" ? DENY : OK
      case ACTION.pragma:
        return first !== null && READING_PRAGMAS.has(first.toLowerCase()) ? OK : DENY
      default:
        return DENY
    }
  })
  return {
    query: (sql, values = [], { limit = DEFAULT_LIMIT } = {}) => {
      refuseOthers(sql)
      try {
        const statement = database.prepare(sql)
        statement.setReadBigInts(true)
        statement.setReturnArrays(true)
        const columns = distinct(statement.columns().map(({ name }) => name))
        const rows: SqliteRow[] = []
        for (const row of statement.iterate(...values)) {
          const cells = Object.values(row)
          rows.push(Object.fromEntries(columns.map((name, at) => [name, readable(cells[at] ?? null)])))
          if (rows.length > limit) break
        }
        return { columns, rows: rows.slice(0, limit), hasMore: rows.length > limit }
      } catch (error) {
        throw new OrangeboxError("SQL", {
          what: error instanceof Error ? error.message : String(error),
          next: `Reading statements only; the views are ${viewNames().join(", ")}`,
          cause: error,
        })
      }
    },
    close: () => database.close(),
  }
}

/** `status` and `status:1`, as SQLite itself names them in a subquery: none of two columns with one name is lost. */
function distinct(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    let distinct = name
    for (let no = 1; taken.has(distinct); no++) distinct = `${name}:${no}`
    taken.add(distinct)
    return distinct
  })
}

/** A number that JavaScript cannot hold exactly is given as its digits. */
function readable(value: SqliteValue): SqliteValue {
  if (typeof value !== "bigint") return value
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
}

// Blanks and comments. A comment ends at its first end, and no search for a match may stretch it to a later one.
const GAP = String.raw`(?:\s|--[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)*`
const FIRST_WORD = new RegExp(`^${GAP}([a-z]+)`, "i")
const PRAGMA = new RegExp(`^${GAP}(?:explain\\b${GAP}(?:query\\b${GAP}plan\\b${GAP})?)?pragma\\b`, "i")
const PRAGMA_NAME = new RegExp(`${PRAGMA.source}${GAP}(?:\\w+${GAP}\\.${GAP})?(\\w+)`, "i")

/** What begins a statement that is not only a reading one. Anything else that is no reading one either begins none. */
const WRITING: ReadonlySet<string> = new Set(
  "alter analyze attach begin commit create delete detach drop end insert reindex release replace rollback savepoint update vacuum".split(
    " ",
  ),
)

// Not every driver has an authorizer (the SQLite of Node 22 has none). There the first word decides, and the name of a PRAGMA, which SQLite
// carries out while it reads it, an explained one too; read-only and query_only stand behind that.
function refuseOthers(sql: string): void {
  const first = FIRST_WORD.exec(sql)?.[1]?.toLowerCase()
  if (PRAGMA.test(sql) && !READING_PRAGMAS.has(PRAGMA_NAME.exec(sql)?.[1]?.toLowerCase() ?? "")) {
    throw new OrangeboxError("SQL", {
      what: "this PRAGMA is not among those that only read",
      next: `Allowed are ${[...READING_PRAGMAS].join(", ")}`,
    })
  }
  if (first !== undefined && ["select", "with", "values", "explain", "pragma"].includes(first)) {
    if (!hasSecondStatement(sql)) return
    throw new OrangeboxError("SQL", { what: "this is more than one statement", next: "Ask one at a time" })
  }
  if (first !== undefined && WRITING.has(first)) {
    throw new OrangeboxError("SQL", {
      what: `only reading statements are allowed, not ${first.toUpperCase()}`,
      next: "Start with SELECT or WITH",
    })
  }
  throw new OrangeboxError("SQL", {
    what: `syntax error: no statement begins with ${first === undefined ? "this" : first.slice(0, 40).toUpperCase()}`,
    next: "Start with SELECT or WITH",
  })
}

// SQLite prepares the first statement and passes over the rest without a word. Texts, names and comments may hold a semicolon; a
// quote that is doubled inside them reads as the end of one text and the beginning of the next, which holds the same semicolons.
function hasSecondStatement(sql: string): boolean {
  const bare = sql.replace(/'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?\*\//g, " ")
  return /;\s*[^\s;]/.test(bare)
}
