/** The process that runs one query and nothing else. The question comes on stdin, the answer goes to stdout. */
import { OrangeboxError } from "@orangebox/contract"
import { querySql } from "@orangebox/store"
import type { SqlAnswer, SqlQuestion } from "./run-sql.js"

async function readQuestion(): Promise<SqlQuestion> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) chunks.push(chunk)
  return JSON.parse(Buffer.concat(chunks).toString("utf8")) as SqlQuestion
}

async function answer({ storeFolder, sql, maxRows }: SqlQuestion): Promise<SqlAnswer> {
  const { columns, rows, hasMore } = await querySql(storeFolder, sql, maxRows)
  return { columns, rows: rows.map((row) => columns.map((column) => plain(row[column]))), isCut: hasMore }
}

function plain(value: unknown): string | number | null {
  if (value === null || typeof value === "number" || typeof value === "string") return value
  if (value instanceof Uint8Array) return `x'${Buffer.from(value).toString("hex")}'`
  if (typeof value === "object") return JSON.stringify(value)
  return value === undefined ? null : String(value)
}

function refusal(error: unknown): SqlAnswer {
  const what = error instanceof OrangeboxError ? error.what : error instanceof Error ? error.message : String(error)
  if (!(error instanceof OrangeboxError) || error.code !== "SQL") return { error: { code: "STORE", what } }
  const isForbidden = /not authorized|only reading|readonly|read-only|prohibited/i.test(what)
  return { error: { code: isForbidden ? "SQL_REFUSED" : "SQL_INVALID", what } }
}

const question = await readQuestion()
let said: SqlAnswer
try {
  said = await answer(question)
} catch (error) {
  said = refusal(error)
}
process.stdout.write(JSON.stringify(said))
