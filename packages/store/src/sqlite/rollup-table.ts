import { addTokens, type FoldedStep, noTokens, TOKEN_FIELDS, type TokenCounts } from "@orangebox/runs"
import { STEP_KINDS } from "./codes.js"
import type { SqliteDatabase, SqliteStatement } from "./driver.js"

const DAY_MS = 86_400_000

interface Sum {
  readonly key: readonly [day: number, kind: number, name: string, provider: string, app: string]
  count: number
  errors: number
  timeouts: number
  open: number
  durationSum: number
  durationMax: number
  readonly tokens: TokenCounts
}

/**
 * Sums over steps by day, kind, name and app. Kept up with every batch, so nothing has to be computed before something is pruned;
 * what a pruned run had contributed moves from `kept = 0` to `kept = 1`, which a rebuild leaves alone.
 */
export class RollupTable {
  readonly #add: SqliteStatement
  #sums = new Map<string, Sum>()

  constructor(database: SqliteDatabase) {
    const tokens = ["prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"]
    const plus = ["count", "errors", "timeouts", "open", "duration_sum"].map(
      (name) => `${name} = ${name} + excluded.${name}`,
    )
    const known = tokens.map(
      (name) =>
        `${name} = CASE WHEN excluded.${name} IS NULL THEN ${name} ELSE coalesce(${name}, 0) + excluded.${name} END`,
    )
    this.#add = database.prepare(
      `INSERT INTO rollup_rows (day, kind, name, provider, app, kept, count, errors, timeouts, open, duration_sum, duration_max, ${tokens.join(", ")})
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET ${[...plus, "duration_max = max(duration_max, excluded.duration_max)", ...known].join(", ")}`,
    )
  }

  /** Counts a step that is complete, or one that never will be. Attempts of a call are part of the call and not counted again. */
  count(step: FoldedStep<unknown>, app: string | null): void {
    if (step.isAttempt) return
    const key = [
      Math.floor(step.openedAtMs / DAY_MS),
      STEP_KINDS.indexOf(step.kind),
      step.name ?? "",
      step.provider ?? "",
      app ?? "",
    ] as const
    const name = key.join("\n")
    let sum = this.#sums.get(name)
    if (sum === undefined) {
      sum = { key, count: 0, errors: 0, timeouts: 0, open: 0, durationSum: 0, durationMax: 0, tokens: noTokens() }
      this.#sums.set(name, sum)
    }
    sum.count++
    if (step.status === "error") sum.errors++
    else if (step.status === "timeout") sum.timeouts++
    else if (step.status === "open") sum.open++
    sum.durationSum += step.durationMicros ?? 0
    sum.durationMax = Math.max(sum.durationMax, step.durationMicros ?? 0)
    addTokens(sum.tokens, step.tokens)
  }

  /** Adds what was counted to the rows. */
  write(): void {
    this.#write(0, 1)
  }

  /** Takes what was counted out of the rows. */
  takeAway(): void {
    this.#write(0, -1)
  }

  /** Moves what was counted from the live rows to those of pruned runs. */
  moveToKept(): void {
    this.#write(1, 1)
    this.#write(0, -1, (step) => step.open < step.count)
  }

  /** Gives rows other names, and joins those that then have the same. Says how many were renamed. */
  rename(database: SqliteDatabase, rename: (name: string) => string): number {
    const remove = database.prepare(
      "DELETE FROM rollup_rows WHERE day = ? AND kind = ? AND name = ? AND provider = ? AND app = ? AND kept = ?",
    )
    let renamed = 0
    for (const row of database.prepare("SELECT * FROM rollup_rows").all()) {
      const values = Object.values(row) as (number | string | null)[]
      const [day, kind, name, provider, app, ...rest] = values as [number, number, string, string, string, number]
      const names = [name, provider, app].map(rename)
      if (names[0] === name && names[1] === provider && names[2] === app) continue
      remove.run(day, kind, name, provider, app, rest[0])
      this.#add.run(day, kind, ...names, ...rest)
      renamed++
    }
    return renamed
  }

  reset(): void {
    this.#sums = new Map()
  }

  #write(kept: number, sign: 1 | -1, isWanted: (sum: Sum) => boolean = () => true): void {
    for (const sum of this.#sums.values()) {
      if (!isWanted(sum)) continue
      // Steps that are still open were never added to the live rows.
      const count = kept === 0 && sign === -1 ? sum.count - sum.open : sum.count
      const tokens = TOKEN_FIELDS.map((field) => sum.tokens[field]).map((count) =>
        count === null ? null : sign * count,
      )
      this.#add.run(
        ...sum.key,
        kept,
        sign * count,
        sign * sum.errors,
        sign * sum.timeouts,
        kept === 1 ? sum.open : 0,
        sign * sum.durationSum,
        sign === 1 ? sum.durationMax : 0,
        ...tokens,
      )
    }
    if (kept === 0) this.#sums = new Map()
  }
}
