import { InputError } from "@orangebox/contract"
import { formatTable, plural } from "@orangebox/text"
import type { Reading } from "../open/open-reading.js"
import { runSql, type SqlTable } from "../sql/run-sql.js"
import { type Answer, type Shown, verbatim } from "./answer.js"

export interface SqlAsked {
  readonly query: string
  readonly limit?: number
  readonly timeoutMs?: number
}

const DEFAULT_TIMEOUT_MS = 10_000
export const DEFAULT_SQL_ROWS = 1000

/** One SELECT, in a process with a time limit. */
export async function answerSql(
  { folder, freshness }: Reading,
  { query, limit = DEFAULT_SQL_ROWS, timeoutMs = DEFAULT_TIMEOUT_MS }: SqlAsked,
  { width }: Shown,
): Promise<Answer> {
  const table = await runSql({ storeFolder: folder.storeFolder, sql: query, maxRows: limit }, timeoutMs)
  return verbatim(
    () => tableText(table, width),
    () => ({ ...tableJson(table), ...freshness }),
  )
}

/** Said before anything is opened. */
export function checkSql(query: string): void {
  if (query.trim() === "")
    throw new InputError("SQL_INVALID", { what: "the query is empty", next: "See: orangebox sql --help" })
}

const MOST_CELL_COLUMNS = 80
/** Less of a cell tells nothing; a table that would need that is shown row by row. */
const LEAST_CELL_COLUMNS = 8

function tableText({ columns, rows, isCut }: SqlTable, width = Number.POSITIVE_INFINITY): string {
  if (rows.length === 0) return "0 rows"
  const cells = rows.map((row) => row.map((value) => (value === null ? "" : String(value))))
  const count = isCut
    ? `the first ${plural(rows.length, "row")}, there are more: raise --limit`
    : plural(rows.length, "row")
  const isTooWide = columns.length * (LEAST_CELL_COLUMNS + 2) - 2 > width
  return `${isTooWide ? rowByRow(columns, cells, width) : acrossColumns({ columns, rows }, cells, width)}\n${count}`
}

function acrossColumns(
  { columns, rows }: Pick<SqlTable, "columns" | "rows">,
  cells: string[][],
  width: number,
): string {
  const shape = columns.map((title, index) => {
    const isNumber = rows.every((row) => typeof row[index] !== "string")
    // Half a number is another number.
    return isNumber
      ? { title, align: "right" as const, minWidth: Math.max(...cells.map((row) => row[index]!.length)) }
      : { title, maxWidth: MOST_CELL_COLUMNS, minWidth: LEAST_CELL_COLUMNS }
  })
  return formatTable(shape, cells, { width })
}

function rowByRow(columns: readonly string[], cells: string[][], width: number): string {
  const shape = [{ title: "" }, { title: "", minWidth: LEAST_CELL_COLUMNS }]
  const blocks = cells.map((row, index) => {
    const table = formatTable(
      shape,
      columns.map((title, at) => [title, row[at]!]),
      { width },
    )
    return `row ${index + 1}\n${table.trimStart()}`
  })
  return blocks.join("\n\n")
}

function tableJson({ columns, rows, isCut }: SqlTable) {
  return { columns, rows, is_cut: isCut }
}
