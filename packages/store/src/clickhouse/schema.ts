import { OrangeboxError } from "@orangebox/contract"
import { ROLLUP_SHAPES } from "../sums/step-sums.js"
import type { SumShape } from "../sums/sum-shape.js"
import type { Connection } from "./connection.js"
import { factRow, firstStays, namedFacts } from "./facts.js"
import { viewStatements } from "./views.js"

/** What the schema fact says. Additive changes leave `min_writer` and `min_reader` as they were, so older builds go on beside newer ones. */
interface SchemaFact {
  readonly version: number
  readonly min_writer: number
  readonly min_reader: number
}

interface Migration extends SchemaFact {
  readonly statements: readonly string[]
}

const TEXT_KEYS = new Set([
  "work_kind",
  "name",
  "provider",
  "source",
  "error_class",
  "app",
  "agent_version",
  "contributor",
])

/** A run's sums are one column of its row: a row that replaces another replaces them whole, and nothing counts twice. */
const sumsType = ({ key, added, largest, counted }: SumShape): string =>
  `Array(Tuple(${[
    ...key.filter((name) => name !== "run").map((name) => `${name} ${TEXT_KEYS.has(name) ? "String" : "Int32"}`),
    ...[...added, ...largest].map((name) => `${name} Nullable(Float64)`),
    ...counted.map((name) => `${name} Map(String, UInt64)`),
  ].join(", ")}))`

/** Of contributors the kind is a word. */
const contributorsType = sumsType(ROLLUP_SHAPES.contributors).replace("kind Int32", "kind String")

const TOKENS = ["prompt", "completion", "cache_read", "cache_write", "reasoning"]
  .map((name) => `${name}_tokens Nullable(Float64)`)
  .join(", ")

const text = (...names: string[]): string => names.map((name) => `${name} Nullable(String)`).join(", ")

const TABLES: Readonly<Record<string, { columns: string; engine: string; rest: string }>> = {
  fact_rows: {
    columns: "kind LowCardinality(String), key String, version UInt64, at Int64, json String CODEC(ZSTD(1))",
    engine: "ReplacingMergeTree(version)",
    rest: "ORDER BY (kind, key)",
  },
  event_rows: {
    columns: `month Date, run_id String, place UInt64, event_id String, digest String, rev UInt8, is_conflict UInt8, event_type LowCardinality(String),
      step_id Nullable(String), writer_id Nullable(String), at Int64, seen_at Int64, mono Float64, json String CODEC(ZSTD(1)),
      INDEX e event_id TYPE bloom_filter(0.01) GRANULARITY 1, INDEX a at TYPE minmax GRANULARITY 1`,
    engine: "ReplacingMergeTree(rev)",
    rest: "PARTITION BY month ORDER BY (run_id, place, event_id, digest) SETTINGS index_granularity = 1024",
  },
  run_rows: {
    columns: `month Date, run_id String, version UInt64, owner String, host String, state LowCardinality(String), pruned_at Nullable(Int64),
      ${text("trace_id", "conversation_id", "writer_id", "app", "entrypoint", "environment", "agent_version")}, status LowCardinality(String),
      started_at Int64, ended_at Nullable(Int64), last_at Int64, first_mono Nullable(Float64), last_mono Nullable(Float64), duration Nullable(Float64),
      ${text("input_summary", "error_class", "error_summary", "capture_mode")}, events UInt64, annotations UInt64, steps UInt64, open_steps UInt64,
      model_calls UInt64, tool_calls UInt64, errors UInt64, ${TOKENS}, source_run_id Nullable(String), ingested_at Int64, released UInt32,
      is_crashed UInt8, sums ${sumsType(ROLLUP_SHAPES.steps)}, contributors ${contributorsType}`,
    engine: "ReplacingMergeTree(version)",
    rest: "PARTITION BY month ORDER BY run_id SETTINGS index_granularity = 1024",
  },
  step_rows: {
    columns: `month Date, run_id String, no UInt64, version UInt64, step_id String, parent_id Nullable(String), parent Nullable(UInt64), kind LowCardinality(String),
      ${text("name", "provider")}, status LowCardinality(String), opened_at Int64, opened_by Nullable(String), closed_by Nullable(String), opened_mono Nullable(Float64),
      mode LowCardinality(Nullable(String)), lane Nullable(String), duration Nullable(Float64), attempt Nullable(UInt32), ${text("error_class", "work_kind", "source", "inferred_by")},
      is_replayed UInt8, first_byte Nullable(Float64), ${TOKENS}, INDEX s step_id TYPE bloom_filter(0.01) GRANULARITY 1`,
    engine: "ReplacingMergeTree(version)",
    rest: "PARTITION BY month ORDER BY (run_id, no) SETTINGS index_granularity = 1024",
  },
  body_rows: {
    columns: `hash String, version UInt64, byte_size UInt64, mime Nullable(String), state UInt8, state_at Nullable(Int64), seen_at Int64, shelf String, recipe String CODEC(ZSTD(1))`,
    engine: "ReplacingMergeTree(version)",
    rest: "ORDER BY hash SETTINGS index_granularity = 1024",
  },
  ref_rows: {
    columns: `hash String, run_id String, event_id String, class UInt8, event_type LowCardinality(String), step_id Nullable(String), place UInt64, at Int64`,
    engine: "ReplacingMergeTree",
    rest: "ORDER BY (hash, run_id, event_id, class) SETTINGS index_granularity = 1024",
  },
  // Blocks are compressed already. In base64 they go through JSON, and the codec takes back what that adds.
  block_rows: {
    columns: `shelf String, first_chunk UInt64, version UInt64, written_on Date, lengths Array(UInt32), size UInt32, bytes String CODEC(ZSTD(1))`,
    engine: "ReplacingMergeTree(version)",
    rest: "PARTITION BY toMonday(written_on) ORDER BY (shelf, first_chunk) SETTINGS index_granularity = 8",
  },
  text_rows: {
    columns: `digest String, at Int64, text String CODEC(ZSTD(3)), folded String CODEC(ZSTD(3)), INDEX t folded TYPE text(tokenizer = ngrams(3))`,
    engine: "ReplacingMergeTree(at)",
    rest: "ORDER BY digest",
  },
  text_runs: {
    columns: `digest String, run_id String, class UInt8, event_type LowCardinality(String), rank UInt64, place UInt64, event_id String, hash Nullable(String)`,
    engine: "ReplacingMergeTree(rank)",
    rest: "ORDER BY (digest, run_id, class, event_type)",
  },
  id_rows: {
    columns: `id String, kind LowCardinality(String), run_id String, event_id String, step_id Nullable(String), event_type LowCardinality(String), place UInt64, at Int64`,
    engine: "ReplacingMergeTree",
    rest: "ORDER BY (id, kind, run_id, event_id) SETTINGS index_granularity = 1024",
  },
  stream_rows: {
    columns: `stream_id String, offset UInt64, micros Float64, arrived DateTime DEFAULT now(), bytes String CODEC(ZSTD(1))`,
    engine: "ReplacingMergeTree",
    // A stream that ends becomes a body; what no collector ended within a quarter has no writer that could.
    rest: "ORDER BY (stream_id, offset) TTL arrived + INTERVAL 90 DAY",
  },
}

export const TABLE_NAMES = Object.keys(TABLES)

const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    min_writer: 1,
    min_reader: 1,
    statements: Object.entries(TABLES).map(
      ([name, { columns, engine, rest }]) =>
        `CREATE TABLE IF NOT EXISTS {db}.${name} {on} (${columns}) ENGINE = {engine:${engine}} ${rest}`,
    ),
  },
]

export const CLICKHOUSE_SCHEMA = MIGRATIONS.length

/** Makes the database and its tables, or brings them to this build's schema. Every statement may run again: a migration that broke off is simply called once more. */
export async function migrateClickhouse(connection: Connection, nowMs: number): Promise<{ from: number; to: number }> {
  const { database, settings } = connection
  const on = settings.cluster === undefined ? "" : `ON CLUSTER '${settings.cluster}'`
  await connection.outside(`CREATE DATABASE IF NOT EXISTS ${database} ${on}`)
  const before = await schemaOf(connection)
  if (before !== undefined && before.min_writer > CLICKHOUSE_SCHEMA) throw tooOld(connection, before, "written")
  const from = before?.version ?? 0
  for (const { statements } of MIGRATIONS.slice(from)) {
    for (const statement of statements) await connection.command(fitted(statement, connection))
  }
  if (from <= CLICKHOUSE_SCHEMA) {
    for (const statement of viewStatements(database)) await connection.command(fitted(statement, connection))
  }
  if (from < CLICKHOUSE_SCHEMA) {
    const { version, min_writer, min_reader } = MIGRATIONS.at(-1)!
    const json = JSON.stringify({ version, min_writer, min_reader })
    await connection.insert("fact_rows", [{ kind: "schema", key: "schema", version, at: nowMs, json }])
  }
  return { from, to: Math.max(from, CLICKHOUSE_SCHEMA) }
}

function fitted(statement: string, { database, settings }: Connection): string {
  const { cluster } = settings
  return statement
    .replaceAll("{db}", database)
    .replaceAll("{on}", cluster === undefined ? "" : `ON CLUSTER '${cluster}'`)
    .replace(/\{engine:(\w+)(\([^)]*\))?\}/, (_, engine: string, given: string | undefined) => {
      if (cluster === undefined) return `${engine}${given ?? ""}`
      const path = "'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'"
      return `Replicated${engine}(${path}${given === undefined ? "" : `, ${given.slice(1, -1)}`})`
    })
}

async function schemaOf(connection: Connection): Promise<SchemaFact | undefined> {
  try {
    const [row] = await connection.rows(
      `SELECT json FROM ${connection.database}.fact_rows FINAL WHERE kind = 'schema' AND key = 'schema'`,
    )
    return row && (JSON.parse(String(row["json"])) as SchemaFact)
  } catch (error) {
    if (error instanceof OrangeboxError && error.code === "STORE_NO_DATABASE") return undefined
    throw error
  }
}

/** A build writes into, and reads from, a database only where both sides understand each other. */
export async function checkSchema(connection: Connection, wants: "read" | "written"): Promise<number> {
  const schema = await schemaOf(connection)
  if (schema === undefined || schema.version < CLICKHOUSE_SCHEMA) {
    throw new OrangeboxError("STORE_NO_DATABASE", {
      what:
        schema === undefined
          ? "the database has no tables of ours"
          : `the database has schema ${schema.version}, this build needs ${CLICKHOUSE_SCHEMA}`,
      where: `${connection.settings.url} (database ${connection.database})`,
      next: "Make them with: orangebox store migrate. Until then the journals are kept",
    })
  }
  if ((wants === "read" ? schema.min_reader : schema.min_writer) > CLICKHOUSE_SCHEMA)
    throw tooOld(connection, schema, wants)
  return schema.version
}

function tooOld(connection: Connection, schema: SchemaFact, wants: "read" | "written"): OrangeboxError {
  return new OrangeboxError("STORE_VERSION", {
    what: `the database has schema ${schema.version} and cannot be ${wants} by this build, which knows schemas up to ${CLICKHOUSE_SCHEMA}`,
    where: `${connection.settings.url} (database ${connection.database})`,
    next: "Upgrade with: npm i -g orangebox@latest. The journals are kept until then",
  })
}

/**
 * The first to write says which key secrets are tagged with in this database. Tags of two keys say nothing about whether two secrets are the same, so
 * a machine with another key is not let in: its recordings would compare as different where nobody knows.
 */
export async function checkTagKey(connection: Connection, nowMs: number): Promise<void> {
  const { tagKeyId: own } = connection.settings
  if (own === undefined) return
  const known = (await namedFacts<{ id: string }>(connection, "tag_key", ["tag_key"])).get("tag_key")?.value.id
  if (known === undefined) {
    await connection.insert("fact_rows", [factRow("tag_key", "tag_key", firstStays(nowMs), nowMs, { id: own })])
    return checkTagKey(connection, nowMs)
  }
  if (known === own) return
  throw new OrangeboxError("STORE_KEY", {
    what: "this machine tags secrets with another key than the machines that write to this database already",
    where: `${connection.settings.url} (database ${connection.database})`,
    next: "Hand out their file store.key as you do the password, put it into this data folder, and agree to it with: orangebox trust --key. The journals are kept until then",
  })
}
