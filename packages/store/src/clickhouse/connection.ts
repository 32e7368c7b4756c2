import { createHash } from "node:crypto"
import type { ClickHouseClient, ClickHouseSettings } from "@clickhouse/client"
import { OrangeboxError } from "@orangebox/contract"
import { explained } from "./explain-error.js"
import type { ClickhouseSettings } from "./settings.js"

/** What a row holds on its way to the server or back: JSON. */
export type ServerRow = Record<string, unknown>

const SETTINGS: ClickHouseSettings = {
  // Ids in lists make long statements; nothing of them is typed by a person.
  max_query_size: "67108864",
  output_format_json_quote_64bit_integers: 0,
  date_time_input_format: "best_effort",
  do_not_merge_across_partitions_select_final: 1,
  lightweight_deletes_sync: "2",
  mutations_sync: "2",
}

/**
 * The way to the server. The client library is loaded with the first question: who has no cluster never loads it. Everything that goes wrong is told
 * as what it means for the recordings, without what the server quotes of them.
 */
export class Connection {
  readonly settings: ClickhouseSettings
  #client: Promise<ClickHouseClient> | undefined

  constructor(settings: ClickhouseSettings) {
    checkAddress(settings)
    this.settings = settings
  }

  get database(): string {
    return this.settings.database
  }

  async rows(sql: string, extra: ClickHouseSettings = {}): Promise<ServerRow[]> {
    return this.#saying(async () => {
      const result = await (await this.#connected()).query({
        query: sql,
        format: "JSONEachRow",
        clickhouse_settings: { ...SETTINGS, ...extra },
      })
      return (await result.json()) as ServerRow[]
    })
  }

  /** The same for many rows, a few at a time. */
  async *stream(sql: string): AsyncGenerator<ServerRow> {
    const result = await this.#saying(async () =>
      (await this.#connected()).query({ query: sql, format: "JSONEachRow", clickhouse_settings: SETTINGS }),
    )
    for await (const part of result.stream()) for (const row of part) yield row.json() as ServerRow
  }

  /** Rows of a statement that is not ours, as columns in their order. */
  async table(sql: string, mostRows: number): Promise<{ columns: string[]; rows: ServerRow[] }> {
    return this.#saying(async () => {
      const result = await (await this.#connected()).query({
        query: sql.trim().replace(/;\s*$/, ""),
        format: "JSONCompact",
        clickhouse_settings: {
          output_format_json_quote_64bit_integers: 0,
          max_result_rows: String(mostRows),
          result_overflow_mode: "break",
          max_execution_time: 60,
          max_memory_usage: "4000000000",
          readonly: "1",
        },
      })
      const { meta = [], data } = (await result.json()) as { meta?: { name: string }[]; data: unknown[][] }
      const columns = distinct(meta.map(({ name }) => name))
      const rows = data
        .slice(0, mostRows)
        .map((cells) => Object.fromEntries(columns.map((name, at) => [name, cells[at]])))
      return { columns, rows }
    })
  }

  async value(sql: string): Promise<number> {
    const [row] = await this.rows(sql)
    return Number(Object.values(row ?? {})[0] ?? 0)
  }

  /** All rows or none: they go in one block, so that a reader sees them together. Rows that are there already change nothing. */
  async insert(table: string, rows: readonly ServerRow[]): Promise<void> {
    if (rows.length === 0) return
    const values = rows.map(wellFormed)
    await this.#saying(async () => {
      await (await this.#connected()).insert({
        table,
        values,
        format: "JSONEachRow",
        columns: Object.keys(values[0]!) as [string, ...string[]],
        clickhouse_settings: {
          ...SETTINGS,
          ...this.#tokenFor(values),
          max_insert_block_size: "1048576",
          input_format_skip_unknown_fields: 0,
        },
      })
    })
  }

  /**
   * By which replicas know a block that comes again. Of the content, never of a place in a file: the server drops another block under a token it knows, without
   * a word. Rows collapse by their keys in any case.
   */
  #tokenFor(values: readonly ServerRow[]): ClickHouseSettings {
    if (this.settings.cluster === undefined) return {}
    return { insert_deduplication_token: createHash("sha256").update(JSON.stringify(values)).digest("hex") }
  }

  async command(sql: string): Promise<void> {
    await this.#saying(async () => {
      await (await this.#connected()).command({ query: sql, clickhouse_settings: SETTINGS })
    })
  }

  async close(): Promise<void> {
    const client = this.#client
    this.#client = undefined
    await (await client)?.close()
  }

  /** Of the server itself, whichever database is asked for: the database may not be there yet. */
  async outside(sql: string): Promise<void> {
    await this.#saying(async () => {
      const client = await this.#open({ ...this.settings, database: "default" })
      try {
        await client.command({ query: sql })
      } finally {
        await client.close()
      }
    })
  }

  #connected(): Promise<ClickHouseClient> {
    this.#client ??= this.#open(this.settings)
    return this.#client
  }

  async #open({ url, database, user, password, certificateAuthority }: ClickhouseSettings): Promise<ClickHouseClient> {
    const { createClient, ClickHouseLogLevel } = await import("@clickhouse/client")
    return createClient({
      url,
      database,
      username: user ?? "default",
      password: password ?? "",
      application: "orangebox",
      request_timeout: REQUEST_TIMEOUT_MS,
      compression: { request: false, response: false },
      keep_alive: { enabled: true, idle_socket_ttl: 1500 },
      log: { level: ClickHouseLogLevel.OFF },
      ...(certificateAuthority === undefined ? {} : { tls: { ca_cert: Buffer.from(certificateAuthority) } }),
    })
  }

  async #saying<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      throw explained(error, this.settings)
    }
  }
}

/** Two columns of one name are both shown. */
function distinct(names: readonly string[]): string[] {
  const seen = new Map<string, number>()
  return names.map((name) => {
    const count = (seen.get(name) ?? 0) + 1
    seen.set(name, count)
    return count === 1 ? name : `${name}_${count}`
  })
}

const REQUEST_TIMEOUT_MS = 120_000

/** A password must not cross a network in the clear because of a missing letter. */
function checkAddress({ url, allowInsecure, database }: ClickhouseSettings): void {
  let address: URL
  try {
    address = new URL(url)
  } catch (cause) {
    throw wrong(`the address of the ClickHouse server is no URL: ${url}`, cause)
  }
  if (address.protocol !== "https:" && address.protocol !== "http:") {
    throw wrong(`the address of the ClickHouse server begins with neither https: nor http: ${url}`)
  }
  const isHere = ["localhost", "[::1]"].includes(address.hostname) || /^127\./.test(address.hostname)
  if (address.protocol === "http:" && !isHere && allowInsecure !== true) {
    throw wrong(`${url} would carry the password and all recordings over the network unencrypted`)
  }
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(database)) throw wrong(`"${database}" cannot be the name of a database`)
}

function wrong(what: string, cause?: unknown): OrangeboxError {
  return new OrangeboxError("STORE_SETTINGS", {
    what,
    where: "the setting store of the configuration",
    next: "Correct it; for a network you trust, store.allowInsecure lets http: pass",
    cause,
  })
}

/** The server refuses half a character, and with it the whole block. */
function wellFormed(row: ServerRow): ServerRow {
  let mended: ServerRow | undefined
  for (const [name, value] of Object.entries(row)) {
    if (typeof value !== "string" || value.isWellFormed()) continue
    mended ??= { ...row }
    mended[name] = value.toWellFormed()
  }
  return mended ?? row
}

/** Text as it stands in a statement. */
export function quote(text: string): string {
  return `'${text.toWellFormed().replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`
}

export function listOf(texts: Iterable<string>): string {
  return [...texts].map(quote).join(", ")
}
