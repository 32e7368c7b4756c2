import { readFileSync } from "node:fs"
import { openReadOnlySql, openStore } from "@orangebox/store"
import { expect, test } from "vitest"
import { ordinaryRun, RecordedRun } from "./recorded.js"
import { temporaryFolder } from "./temporary-folder.js"

const document = readFileSync(new URL("../docs-sql-views.md", import.meta.url), "utf8")

const VIEWS = [
  ...["runs", "steps", "events", "links", "model_calls", "model_attempts", "tool_calls", "bodies"],
  ...["rollups", "contributor_rollups"],
]

test("[S-04] every column of every view is documented, and every example runs", async () => {
  const folder = temporaryFolder()
  const { store } = openStore(folder)
  await store.commit(ordinaryRun().batch())
  const sql = openReadOnlySql(folder)
  for (const view of VIEWS) {
    const columns = sql.query(`PRAGMA table_info(${view})`).rows.map((row) => String(row["name"]))
    expect(columns.length).toBeGreaterThan(5)
    for (const column of columns) expect(document, `${view}.${column}`).toContain(`\`${column}\``)
  }
  const examples = document.split("```sql")[1]!.split("```")[0]!.split(";")
  for (const example of examples.filter((text) => text.includes("SELECT")))
    expect(() => sql.query(example)).not.toThrow()
  sql.close()
  await store.close()
})

test("an event too long for its row does not break the view", async () => {
  const folder = temporaryFolder()
  const { store } = openStore(folder)
  const run = new RecordedRun()
  run.emit(
    "log",
    { level: "info", message: "m" },
    { stepId: run.start(), parentId: null, attributes: { text: "x".repeat(100_000) } },
  )
  await store.commit(run.batch())
  const sql = openReadOnlySql(folder)
  expect(sql.query("SELECT event_type, payload FROM events WHERE event_type = 'log'").rows).toEqual([
    { event_type: "log", payload: null },
  ])
  sql.close()
  await store.close()
})

test("[S-04] an answer has every column, of two with one name and of no row too, and every digit of a number", async () => {
  const folder = temporaryFolder()
  const { store } = openStore(folder)
  await store.commit(ordinaryRun().batch())
  const sql = openReadOnlySql(folder)
  expect(sql.query("SELECT 1 AS status, 2 AS status, 3 AS __proto__")).toMatchObject({
    columns: ["status", "status:1", "__proto__"],
    rows: [{ status: 1, "status:1": 2 }],
  })
  expect(sql.query("SELECT run_id, app FROM runs WHERE 0")).toEqual({
    columns: ["run_id", "app"],
    rows: [],
    hasMore: false,
  })
  expect(sql.query("SELECT 9007199254740993 AS big, 12 AS small").rows).toEqual([
    { big: "9007199254740993", small: 12 },
  ])
  sql.close()
  await store.close()
})
