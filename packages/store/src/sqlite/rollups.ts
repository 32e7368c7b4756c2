import { amountIn, type Event, isRecord, payloadOf, textIn } from "@orangebox/contract"
import { type PriceTable, priceOf, ratesFor, type Usage } from "@orangebox/dialects"
import { type FoldedStep, hasUsage } from "@orangebox/runs"
import { STEP_KINDS, STEP_STATUSES } from "./codes.js"
import type { SqliteDatabase, SqliteRow } from "./driver.js"
import { PLACES } from "./keys.js"
import { column } from "./run-rows.js"
import { type SumShape, SumTable } from "./sum-table.js"

export const DAY_MS = 86_400_000

const STEPS: SumShape = {
  table: "rollup_rows",
  key: [
    ...["run", "day", "kind", "work_kind", "name", "provider", "source", "status", "error_class"],
    ...["app", "agent_version"],
  ],
  added: [
    ...["count", "attempts", "duration_sum", "first_byte_sum"],
    ...["prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"],
    ...["without_usage", "usd_nano", "unpriced"],
  ],
  largest: ["duration_max", "first_byte_max"],
  counted: ["durations", "first_bytes", "generations"],
}

const CONTRIBUTORS: SumShape = {
  table: "contributor_rows",
  key: ["run", "day", "contributor", "kind", "app"],
  added: ["prompts", "bytes", "tokens_est", "usd_nano", "unpriced"],
  largest: [],
  counted: [],
}

export const ROLLUP_SHAPES = { steps: STEPS, contributors: CONTRIBUTORS }

/** A prompt as its roll-up needs it. */
export type Prompt = readonly {
  readonly contributor: string
  readonly kind: string
  readonly length: number
  readonly tokens: number | null
}[]

/** The prompt that an event says a step was made of. */
export function promptIn(event: Event): Prompt | undefined {
  if (event.event_type !== "prompt_assembled" || event.sequence_no === null) return undefined
  const segments: unknown = payloadOf(event)["segments"]
  if (!Array.isArray(segments)) return undefined
  return segments.filter(isRecord).map((segment) => ({
    contributor: textIn(segment, "contributor") ?? "",
    kind: textIn(segment, "kind") ?? "",
    length: amountIn(segment, "length") ?? 0,
    tokens: amountIn(segment, "tokens") ?? null,
  }))
}

/**
 * What steps add up to by day and by what they were, and what each contributor put into prompts. A run has rows of its own, made from the same
 * fold as its steps; when retention takes the run they are added to those of run 0, so a question has one answer before and after.
 */
export class Rollups {
  readonly #database: SqliteDatabase
  readonly #prices: PriceTable
  readonly #steps: SumTable
  readonly #contributors: SumTable

  constructor(database: SqliteDatabase, prices: PriceTable) {
    this.#database = database
    this.#prices = prices
    this.#steps = new SumTable(database, STEPS)
    this.#contributors = new SumTable(database, CONTRIBUTORS)
  }

  /** Counts a step that has ended. Attempts of a call are part of the call. */
  count(run: number, step: FoldedStep<unknown>, prompt: Prompt | undefined): void {
    if (step.isAttempt) return
    this.#steps.add(this.#rowOf(run, step))
    if (prompt !== undefined && step.kind === "model") {
      for (const row of this.#shares(run, step, prompt)) this.#contributors.add(row)
    }
  }

  write(): void {
    this.#steps.write()
    this.#contributors.write()
  }

  removeRun(run: number): void {
    this.#steps.removeRun(run)
    this.#contributors.removeRun(run)
  }

  /** Adds a run's rows, and its steps that never ended, to those of the runs that are gone. */
  keep(run: number): void {
    for (const row of this.#database.prepare(`SELECT * FROM (${STEP_ROLLUPS}) WHERE run = ?`).all(run))
      this.#steps.add({ ...row, run: 0 })
    for (const row of this.#database.prepare(`SELECT * FROM (${CONTRIBUTOR_ROLLUPS}) WHERE run = ?`).all(run))
      this.#contributors.add({ ...row, run: 0 })
    this.removeRun(run)
    this.write()
  }

  /** Forgets the days before this one, of runs that are gone. */
  forgetBefore(day: number): number {
    let gone = 0
    for (const { table } of [STEPS, CONTRIBUTORS])
      gone += Number(this.#database.prepare(`DELETE FROM ${table} WHERE run = 0 AND day < ?`).run(day).changes)
    return gone
  }

  /** Gives rows other names, and joins those that then have the same. Says how many were renamed. */
  rename(rename: (name: string) => string): number {
    let renamed = 0
    for (const [table, shape] of [
      [this.#steps, STEPS],
      [this.#contributors, CONTRIBUTORS],
    ] as const) {
      const isKey = shape.key.map((name) => `${name} = ?`).join(" AND ")
      const remove = this.#database.prepare(`DELETE FROM ${shape.table} WHERE ${isKey}`)
      for (const row of this.#database.prepare(`SELECT * FROM ${shape.table}`).all()) {
        const texts = shape.key.flatMap((name) => (typeof row[name] === "string" ? [[name, rename(row[name])]] : []))
        const after = { ...row, ...Object.fromEntries(texts) }
        if (shape.key.every((name) => after[name] === row[name])) continue
        remove.run(...shape.key.map((name) => row[name]!))
        table.add(after)
        renamed++
      }
      table.write()
    }
    return renamed
  }

  reset(): void {
    this.#steps.reset()
    this.#contributors.reset()
  }

  /** One literal: on Node 20 each spread of an object of this size costs as much as the rest of counting a step. */
  #rowOf(run: number, step: FoldedStep<unknown>): SqliteRow {
    const { durationMicros: duration, firstByteMicros: firstByte, tokens } = step
    const isCall = step.kind === "model"
    const usd = isCall ? priceOf(usageOf(step), step.name, step.openedAtMs, this.#prices).usd : null
    return {
      run,
      day: dayOf(step),
      kind: STEP_KINDS.indexOf(step.kind),
      work_kind: column(step.workKind) ?? "",
      name: column(step.name) ?? "",
      provider: column(step.provider) ?? "",
      source: column(step.source) ?? "",
      status: STEP_STATUSES.indexOf(step.status),
      error_class: column(step.errorClass) ?? "",
      app: "",
      agent_version: "",
      count: 1,
      attempts: isCall ? Math.max(1, step.attempts) : null,
      duration_sum: duration,
      first_byte_sum: firstByte,
      prompt_tokens: tokens.prompt,
      completion_tokens: tokens.completion,
      cache_read_tokens: tokens.cacheRead,
      cache_write_tokens: tokens.cacheWrite,
      reasoning_tokens: tokens.reasoning,
      without_usage: isCall ? Number(!hasUsage(tokens)) : null,
      usd_nano: usd === null ? null : nano(usd),
      unpriced: isCall ? Number(usd === null) : null,
      duration_max: duration,
      first_byte_max: firstByte,
      durations: inBucket(duration),
      first_bytes: inBucket(firstByte),
      generations: inBucket(duration === null || firstByte === null ? null : Math.max(0, duration - firstByte)),
    }
  }

  /** Each contributor's share of a prompt: of its tokens by length, of its money by whether its place had been read from the cache. */
  #shares(run: number, step: FoldedStep<unknown>, prompt: Prompt): Iterable<SqliteRow> {
    const { prompt: promptTokens, cacheRead } = step.tokens
    const length = prompt.reduce((sum, segment) => sum + segment.length, 0)
    const rates = ratesFor(usageOf(step), step.name, step.openedAtMs, this.#prices)
    const shares = new Map<string, { row: SqliteRow; tokens: number | null; usd: number | null }>()
    let at = 0
    for (const segment of prompt) {
      const name = `${segment.kind}\n${segment.contributor}`
      let share = shares.get(name)
      if (share === undefined) {
        const { contributor, kind } = segment
        const key = { run, day: dayOf(step), contributor: column(contributor)!, kind: column(kind)!, app: "" }
        share = { row: { ...key, prompts: 1, bytes: 0 }, tokens: 0, usd: 0 }
        shares.set(name, share)
      }
      share.row["bytes"] = Number(share.row["bytes"]) + segment.length
      const tokens = promptTokens === null || length === 0 ? segment.tokens : (promptTokens * segment.length) / length
      share.tokens = share.tokens === null || tokens === null ? null : share.tokens + tokens
      if (tokens === null || rates === undefined) {
        share.usd = null
        continue
      }
      const cached = Math.min(tokens, Math.max(0, (cacheRead ?? 0) - at))
      at += tokens
      if (cached > 0 && rates.cacheRead === null) share.usd = null
      else if (share.usd !== null)
        share.usd += (cached * (rates.cacheRead ?? 0) + (tokens - cached) * rates.input) / 1_000_000
    }
    return [...shares.values()].map(({ row, tokens, usd }) => ({
      ...row,
      tokens_est: tokens === null ? null : Math.round(tokens),
      usd_nano: usd === null ? null : nano(usd),
      unpriced: Number(usd === null),
    }))
  }
}

/** Whole billionths of a dollar, so that a sum does not depend on the order in which it was made. */
const nano = (usd: number): number => Math.round(usd * 1e9)

const dayOf = ({ openedAtMs }: FoldedStep<unknown>): number => Math.floor(openedAtMs / DAY_MS)

function usageOf({ tokens, serviceTier, cacheWrite1h }: FoldedStep<unknown>): Usage {
  const { prompt, completion, cacheRead: cache_read, cacheWrite: cache_write } = tokens
  const counts = { prompt, completion, total: null, cache_read, cache_write }
  return { tokens: counts, cacheWrite5m: null, cacheWrite1h, serviceTier, billedExtras: {}, raw: null }
}

/** A count of one under the number of binary digits of the microseconds: bucket n holds what is under 2ⁿ µs and at least half of that. */
function inBucket(micros: number | null): string | null {
  return micros === null ? null : `{"${micros === 0 ? 0 : Math.round(micros).toString(2).length}":1}`
}

const ownColumn = (name: string): string =>
  `CASE rollup.run WHEN 0 THEN rollup.${name} ELSE coalesce(run_rows.${name}, '') END AS ${name}`

const OPEN = STEP_STATUSES.indexOf("open")

/** One row for each run and what its steps were. Steps without an end are counted from their own rows: they may still get one. */
export const STEP_ROLLUPS = `
  SELECT ${STEPS.key
    .slice(0, -2)
    .map((name) => `rollup.${name}`)
    .join(", ")}, ${ownColumn("app")}, ${ownColumn("agent_version")},
    ${[...STEPS.added, ...STEPS.largest, ...STEPS.counted].map((name) => `rollup.${name}`).join(", ")}
  FROM rollup_rows AS rollup LEFT JOIN run_rows ON run_rows.key = rollup.run
  UNION ALL
  SELECT run_rows.key, step_rows.opened_at / ${DAY_MS}, step_rows.kind, coalesce(work_kind, ''), step_rows.name, coalesce(provider, ''),
    coalesce(source, ''), ${OPEN}, '', coalesce(app, ''), coalesce(agent_version, ''),
    count(*), ${[...STEPS.added.slice(1), ...STEPS.largest, ...STEPS.counted].map(() => "NULL").join(", ")}
  FROM run_rows JOIN step_rows ON step_rows.key BETWEEN run_rows.key * ${PLACES} AND run_rows.key * ${PLACES} + ${PLACES - 1}
  WHERE run_rows.open_steps > 0 AND step_rows.closed IS NULL AND step_rows.attempt IS NULL GROUP BY 1, 2, 3, 4, 5, 6, 7`

export const CONTRIBUTOR_ROLLUPS = `
  SELECT rollup.run, day, contributor, kind, ${ownColumn("app")}, ${CONTRIBUTORS.added.join(", ")}
  FROM contributor_rows AS rollup LEFT JOIN run_rows ON run_rows.key = rollup.run`
