import { OrangeboxError } from "@orangebox/contract"
import { failpoint } from "../failpoint.js"
import type { SqliteDatabase } from "./driver.js"
import { firstSchema } from "./migrations/001-first-schema.js"
import { redactedEvents } from "./migrations/002-redacted-events.js"
import { oneFold } from "./migrations/003-one-fold.js"
import { callsAndDurations } from "./migrations/004-calls-and-durations.js"
import { evidence } from "./migrations/005-evidence.js"
import { withheldBytes } from "./migrations/006-withheld-bytes.js"
import { whatWasSpent } from "./migrations/007-what-was-spent.js"
import { blocksOfBlocks } from "./migrations/008-blocks-of-blocks.js"
import { createViews } from "./views.js"

export interface Migration {
  /** The `user_version` it leads to: one more than the migration before. */
  readonly version: number
  readonly title: string
  readonly statements: readonly string[]
}

export const MIGRATIONS: readonly Migration[] = [
  firstSchema,
  redactedEvents,
  oneFold,
  callsAndDurations,
  evidence,
  withheldBytes,
  whatWasSpent,
  blocksOfBlocks,
]
export const SCHEMA_VERSION = MIGRATIONS.length

export function schemaVersionOf(database: SqliteDatabase): number {
  return Number(database.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0)
}

/**
 * Brings a database to the current schema. Each migration is one transaction that ends with its `user_version`, so a crash at any
 * statement leaves the schema before or the schema after. Views hold nothing: they go first, because a table that is renamed or dropped
 * under a view cannot be, and are made anew at the end.
 */
export function migrate(database: SqliteDatabase, path: string, migrations: readonly Migration[] = MIGRATIONS): void {
  const target = migrations.length
  checkNotNewer(database, path, target)
  for (const migration of migrations.slice(schemaVersionOf(database))) {
    database.exec("BEGIN EXCLUSIVE")
    try {
      for (const { name } of database.prepare("SELECT name FROM sqlite_schema WHERE type = 'view'").all())
        database.exec(`DROP VIEW "${name}"`)
      migration.statements.forEach((statement, index) => {
        failpoint(`migration:${migration.version}:${index}`)
        database.exec(statement)
      })
      database.exec(`PRAGMA user_version = ${migration.version}`)
      if (migration.version === target) createViews(database)
      failpoint(`migration:${migration.version}:commit`)
      database.exec("COMMIT")
    } catch (error) {
      if (database.isTransaction) database.exec("ROLLBACK")
      throw error
    }
  }
}

export function checkNotNewer(database: SqliteDatabase, path: string, target = SCHEMA_VERSION): void {
  const version = schemaVersionOf(database)
  if (version <= target) return
  throw new OrangeboxError("STORE_VERSION", {
    what: `the store has schema ${version}, this build knows schemas up to ${target}`,
    where: path,
    next: "Upgrade with: npm i -g orangebox@latest",
  })
}
