import fc from "fast-check"
import { expect, test } from "vitest"
import { type SqliteDatabase, sqliteDriver } from "../src/sqlite/driver.js"
import { isBlockInOpenBlock, isRunOfOpenBlock, RollupBlocks } from "../src/sqlite/rollup-blocks.js"
import { countsOf, type SumShape } from "../src/sums/sum-shape.js"

const SHAPE: SumShape = {
  table: "sums",
  key: ["run", "day"],
  added: ["count"],
  largest: ["longest"],
  counted: ["durations"],
}

const DAYS = 60

/** Runs of sixty days in mixed order, one row of sums each. */
class MixedRuns {
  readonly database: SqliteDatabase
  readonly #blocks: RollupBlocks
  #runs = 0

  constructor() {
    this.database = sqliteDriver().open(":memory:")
    this.database.exec("CREATE TABLE run_rows (key INTEGER PRIMARY KEY)")
    this.database.exec("CREATE TABLE open_blocks (block INTEGER PRIMARY KEY)")
    for (const table of ["sums", "blocks"])
      this.database.exec(
        `CREATE TABLE ${table} (run INTEGER, day INTEGER, count INTEGER, longest INTEGER, durations TEXT, PRIMARY KEY (run, day))`,
      )
    this.#blocks = new RollupBlocks(this.database, [
      { blocks: { ...SHAPE, table: "blocks" }, ofRuns: "SELECT * FROM sums" },
    ])
  }

  record(runs: number): void {
    const add = this.database.prepare("INSERT INTO sums VALUES (?, ?, 1, ?, ?)")
    const known = this.database.prepare("INSERT INTO run_rows VALUES (?)")
    this.#within(() => {
      for (const last = this.#runs + runs; this.#runs < last; ) {
        const run = ++this.#runs
        this.#blocks.touch(run)
        known.run(run)
        add.run(run, (run * 7919) % DAYS, run % 1000, JSON.stringify({ [run % 5]: 1 }))
      }
    })
  }

  /** A run of long ago says one thing more, or is taken by retention. */
  change(nth: number, isGone: boolean): void {
    const run = 1 + (nth % Math.max(1, this.#runs))
    this.#within(() => {
      this.#blocks.touch(run)
      this.database
        .prepare(isGone ? "DELETE FROM sums WHERE run = ?" : "UPDATE sums SET count = count + 1 WHERE run = ?")
        .run(run)
    })
  }

  openAll(): void {
    this.#within(() => this.#blocks.openAll())
  }

  #within(work: () => void): void {
    this.database.exec("BEGIN")
    work()
    this.#blocks.addUp()
    this.database.exec("COMMIT")
  }

  /** What a reader reads: each of its rows, and what they add up to. */
  read() {
    return this.#added(`SELECT blocks.* FROM open_blocks CROSS JOIN blocks ON ${isBlockInOpenBlock("run")}
      UNION ALL SELECT sums.* FROM open_blocks CROSS JOIN sums ON ${isRunOfOpenBlock("run")}`)
  }

  oneByOne() {
    return this.#added("SELECT * FROM sums")
  }

  #added(select: string) {
    const rows = this.database.prepare(select).all()
    const days = new Map<number, { count: number; longest: number; durations: Record<string, number> }>()
    for (const row of rows) {
      const day = days.get(Number(row["day"])) ?? { count: 0, longest: 0, durations: {} }
      days.set(Number(row["day"]), day)
      day.count += Number(row["count"])
      day.longest = Math.max(day.longest, Number(row["longest"]))
      for (const [bucket, count] of Object.entries(countsOf(row["durations"]!)))
        day.durations[bucket] = (day.durations[bucket] ?? 0) + count
    }
    return { rows: rows.length, days: Object.fromEntries([...days].sort(([one], [other]) => one - other)) }
  }
}

test("[Q-04] of twenty thousand runs of mixed days a question reads a tenth of their sums, and no figure is another one", () => {
  const runs = new MixedRuns()
  for (let batch = 0; batch < 40; batch++) runs.record(500)
  expect(runs.read().days).toEqual(runs.oneByOne().days)
  expect(runs.oneByOne().rows).toBe(20_000)
  expect(runs.read().rows).toBeLessThan(2_000)
  // One late word opens its block and those around it, and what is beside them stays added up.
  runs.change(12_345, false)
  expect(runs.read().days).toEqual(runs.oneByOne().days)
  expect(runs.read().rows).toBeLessThan(2_500)
  runs.database.close()
})

test("[S-07] sums in blocks are those of the runs one by one, whatever is added, changed, taken or opened in between", () => {
  const act = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ is: fc.constant("record" as const), runs: fc.integer({ min: 1, max: 1500 }) }),
    },
    { weight: 3, arbitrary: fc.record({ is: fc.constant("change" as const), nth: fc.nat(), isGone: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ is: fc.constant("openAll" as const) }) },
  )
  fc.assert(
    fc.property(fc.array(act, { maxLength: 12 }), (acts) => {
      const runs = new MixedRuns()
      for (const one of acts) {
        if (one.is === "record") runs.record(one.runs)
        else if (one.is === "change") runs.change(one.nth, one.isGone)
        else runs.openAll()
        expect(runs.read().days).toEqual(runs.oneByOne().days)
      }
      runs.database.close()
    }),
    { numRuns: 12 },
  )
})
