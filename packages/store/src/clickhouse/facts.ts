import { type Connection, listOf, quote, type ServerRow } from "./connection.js"

/** Small things that are known by a name and replaced whole: offsets, writers, gaps, problems, streams, redacted events, collectors. */
export type FactKind =
  | "offset"
  | "writer"
  | "gap"
  | "problem"
  | "stream"
  | "redacted"
  | "collector"
  | "schema"
  | "tag_key"

export interface Fact<T> {
  readonly key: string
  readonly version: number
  readonly atMs: number
  readonly value: T
}

export async function factsOf<T>(connection: Connection, kind: FactKind, condition = "1"): Promise<Fact<T>[]> {
  const rows = await connection.rows(
    `SELECT key, version, at, json FROM fact_rows FINAL WHERE kind = ${quote(kind)} AND (${condition}) ORDER BY at, key`,
  )
  return rows.map((row) => ({
    key: String(row["key"]),
    version: Number(row["version"]),
    atMs: Number(row["at"]),
    value: JSON.parse(String(row["json"])) as T,
  }))
}

export async function namedFacts<T>(
  connection: Connection,
  kind: FactKind,
  keys: readonly string[],
): Promise<Map<string, Fact<T>>> {
  if (keys.length === 0) return new Map()
  const facts = await factsOf<T>(connection, kind, `key IN (${listOf(keys)})`)
  return new Map(facts.map((fact) => [fact.key, fact]))
}

export function factRow(kind: FactKind, key: string, version: number, atMs: number, value: object | string): ServerRow {
  return { kind, key, version, at: atMs, json: typeof value === "string" ? value : JSON.stringify(value) }
}

/** The version of what must stay as it was first said. */
export const firstStays = (atMs: number): number => Number.MAX_SAFE_INTEGER - atMs

/** A stream of a body that is being written, but for its pieces. */
export interface StreamFact {
  readonly runId: string | null
  readonly stepId: string | null
  readonly role: string
  readonly mime: string | null
  readonly state: "open" | "complete" | "abandoned"
  readonly withheldBytes: number
  readonly hash: string | null
  readonly isUnbroken: boolean | null
  /** Of a stream that was ended, as its pieces were. */
  readonly chunks?: number
  readonly byteSize?: number
  readonly lastMicros?: number
}

/** What one collector says of itself now and then. */
export interface CollectorFact {
  readonly host: string
  readonly shelf: string
  readonly lastCommitAtMs: number
  readonly version?: string
  readonly behindBytes?: number
  readonly startedAtMs?: number
}
