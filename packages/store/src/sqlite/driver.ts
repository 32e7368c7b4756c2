import { createRequire } from "node:module"
import { OrangeboxError } from "@orangebox/contract"
import type { Row, RowValue } from "../row-values.js"

/** The part of the `node:sqlite` API we use; the built-in module and `@photostructure/sqlite` both have it. */
export interface SqliteDatabase {
  readonly isTransaction: boolean
  exec(sql: string): void
  prepare(sql: string): SqliteStatement
  close(): void
  setAuthorizer?(decide: ((action: number, first: string | null, second: string | null) => number) | null): void
}

export interface SqliteStatement {
  run(...values: SqliteValue[]): { changes: number | bigint; lastInsertRowid: number | bigint }
  get(...values: SqliteValue[]): SqliteRow | undefined
  all(...values: SqliteValue[]): SqliteRow[]
  iterate(...values: SqliteValue[]): IterableIterator<SqliteRow>
  columns(): { readonly name: string }[]
  setReadBigInts(enabled: boolean): void
  /** Rows then are lists of values, which unlike objects have room for two columns of one name. */
  setReturnArrays(enabled: boolean): void
}

export type SqliteValue = RowValue
export type SqliteRow = Row

/** The statements of a table, by name. */
export type Prepared<Sql> = { readonly [Name in keyof Sql]: SqliteStatement }

export function prepareAll<Sql extends Record<string, string>>(database: SqliteDatabase, sql: Sql): Prepared<Sql> {
  const prepared = Object.entries(sql).map(([name, text]) => [name, database.prepare(text)])
  return Object.fromEntries(prepared) as Prepared<Sql>
}

export interface SqliteDriver {
  readonly name: string
  readonly version: string
  open(path: string, options?: { readOnly?: boolean }): SqliteDatabase
}

/** Older ones carry the WAL-reset bug, which can lose a committed transaction. */
const OLDEST_SQLITE = "3.51.3"

let chosen: SqliteDriver | undefined

/**
 * The built-in module where it is good enough, else the package, which carries its own SQLite. Chosen by what they can do, not by
 * the version of Node: distributions build Node against whatever SQLite they have.
 */
export function sqliteDriver(): SqliteDriver {
  chosen ??= chooseDriver(candidates())
  return chosen
}

export interface DriverCandidate {
  readonly name: string
  load(): SqliteModule | undefined
}

export interface SqliteModule {
  readonly DatabaseSync: new (
    path: string,
    options?: { readOnly?: boolean; enableForeignKeyConstraints?: boolean },
  ) => SqliteDatabase
}

export function chooseDriver(candidates: readonly DriverCandidate[]): SqliteDriver {
  const refused: string[] = []
  for (const { name, load } of candidates) {
    try {
      const module = load()
      if (module === undefined) {
        refused.push(`${name}: not there`)
        continue
      }
      const found = probe(module)
      if (isOlder(found.version, OLDEST_SQLITE)) {
        refused.push(`${name}: SQLite ${found.version} is older than ${OLDEST_SQLITE}`)
      } else if (!found.hasFullText) {
        refused.push(`${name}: SQLite ${found.version} was built without FTS5`)
      } else {
        return {
          name,
          version: found.version,
          open: (path, options = {}) =>
            new module.DatabaseSync(path, { readOnly: options.readOnly ?? false, enableForeignKeyConstraints: false }),
        }
      }
    } catch (error) {
      refused.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  throw new OrangeboxError("SQLITE_MISSING", {
    what: `no usable SQLite: ${refused.join("; ")}`,
    next: "Install @photostructure/sqlite for this platform, or use Node 24",
  })
}

function candidates(): DriverCandidate[] {
  return [
    { name: "node:sqlite", load: loadBuiltIn },
    {
      name: "@photostructure/sqlite",
      load: () => createRequire(import.meta.url)("@photostructure/sqlite") as SqliteModule,
    },
  ]
}

function loadBuiltIn(): SqliteModule | undefined {
  // The module announces itself as experimental on some versions. That is our choice, not something to tell every user of a command.
  const emitWarning = process.emitWarning
  process.emitWarning = () => {}
  try {
    return process.getBuiltinModule("node:sqlite") as SqliteModule | undefined
  } finally {
    process.emitWarning = emitWarning
  }
}

function probe(module: SqliteModule): { version: string; hasFullText: boolean } {
  const database = new module.DatabaseSync(":memory:")
  try {
    const row = database.prepare("SELECT sqlite_version() AS version").get()
    const options = database.prepare("PRAGMA compile_options").all()
    return {
      version: String(row?.["version"]),
      hasFullText: options.some((option) => option["compile_options"] === "ENABLE_FTS5"),
    }
  } finally {
    database.close()
  }
}

function isOlder(version: string, than: string): boolean {
  const left = version.split(".").map(Number)
  const right = than.split(".").map(Number)
  for (let part = 0; part < right.length; part++) {
    const difference = (left[part] ?? 0) - (right[part] ?? 0)
    if (difference !== 0) return difference < 0
  }
  return false
}
