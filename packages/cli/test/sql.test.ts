import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { record, recordOrdinaryRun } from "./recorded-run.js"

describe("orangebox sql", () => {
  let scratch: Scratch
  const sql = (query: string, ...args: string[]) => orangebox(["sql", query, ...args, "--data", scratch.path])

  beforeAll(async () => {
    scratch = scratchFolder()
    await record(scratch.path, async (recorder) => void (await recordOrdinaryRun(recorder)))
  })
  afterAll(() => scratch.remove())

  test("answers from the documented views, numbers to the right", async () => {
    const { stdout } = await sql("SELECT name, status, duration_ms >= 0 AS timed FROM tool_calls ORDER BY no")
    expect(stdout).toBe("name       status   timed\nread_file  success      1\nopen_gate  error        1\n2 rows\n")
  })

  test("every view and column that its help names is there", async () => {
    const { stdout: help } = await orangeboxHere(["sql", "--help"])
    for (const view of ["runs", "steps", "events", "model_calls", "model_attempts", "tool_calls", "bodies"])
      expect(help).toContain(`  ${view} `)
    const { columns } = jsonOf<{ columns: string[] }>(await sql("SELECT * FROM runs", "--json"))
    for (const column of columns) expect(help).toContain(column)
  })

  test.each([
    ["DELETE FROM runs", /not DELETE/],
    ["WITH gone AS (SELECT 1) DELETE FROM run_rows", /not authorized|read-?only/],
  ])("refuses %s", async (query, message) => {
    const { stderr, exitCode } = await sql(query)
    expect(stderr).toMatch(message)
    expect(stderr).toContain("only reads")
    expect(exitCode).toBe(2)
  })

  test("refuses a second statement instead of passing it over, and takes a semicolon inside a text", async () => {
    const two = await sql("SELECT 1; SELECT 2")
    expect(two.stderr).toMatch(/more than one statement/)
    expect(two.exitCode).toBe(2)
    const one = await sql("SELECT 'a;b' AS text -- ; not another\n;")
    expect(one.stdout).toContain("a;b")
    expect(one.exitCode).toBe(0)
  })

  test("names what is wrong with a query", async () => {
    const { stderr, exitCode } = await sql("SELECT wool FROM runs")
    expect(stderr).toMatch(/no such column: wool[\s\S]*Views: runs/)
    expect(exitCode).toBe(2)
  })

  test("kills a query that would never end, and says so", async () => {
    const bomb = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
    const { stderr, exitCode } = await sql(bomb, "--timeout", "300ms")
    expect(stderr).toMatch(/stopped after 0\.3s[\s\S]*--timeout/)
    expect(exitCode).toBe(2)
  })

  test("states its row limit", async () => {
    const { stdout } = await sql("SELECT event_type FROM events", "--limit", "3")
    expect(stdout).toContain("the first 3 rows, there are more")
  })
})
