import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { advice, InputError, OrangeboxError, suggested } from "@orangebox/contract"
import { viewNames } from "@orangebox/store"
import { formatDuration, nearestWord } from "@orangebox/text"

/** What is said to the process that runs the query, and what it answers: one JSON document each way. */
export interface SqlQuestion {
  readonly storeFolder: string
  readonly sql: string
  readonly maxRows: number
}

export interface SqlTable {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number | null)[])[]
  /** More rows were there than were asked for. */
  readonly isCut: boolean
}

export type SqlAnswer =
  | SqlTable
  | { readonly error: { readonly code: "SQL_INVALID" | "SQL_REFUSED" | "STORE"; readonly what: string } }

const CHILD = fileURLToPath(new URL("sql-process.js", import.meta.url))
const MOST_ANSWER_BYTES = 64 * 1024 * 1024

/**
 * Runs a query in a process of its own. SQLite runs synchronously, so a query that never ends could not be interrupted from within; a
 * process can be killed, and takes whatever memory the query filled with it.
 */
export async function runSql(question: SqlQuestion, timeoutMs: number): Promise<SqlTable> {
  const answer = JSON.parse(await askChild(question, timeoutMs)) as SqlAnswer
  if (!("error" in answer)) return answer
  const { code, what } = answer.error
  const views = `Views: ${viewNames().join(", ")}. Their columns: orangebox sql --help`
  if (code === "SQL_REFUSED") throw new InputError(code, { what, next: `A query only reads. ${views}` })
  if (code === "SQL_INVALID") throw new InputError(code, { what, next: `${meantWords(what)}${views}` })
  throw new OrangeboxError(code, {
    what,
    where: question.storeFolder,
    next: advice`Check the store with: ${suggested("verify")}`,
  })
}

function meantWords(what: string): string {
  const meant = nearestWord(/no statement begins with (\w+)$/.exec(what)?.[1] ?? "", ["SELECT", "WITH", "VALUES"])
  return meant === undefined ? "" : `Did you mean ${meant}? `
}

function askChild(question: SqlQuestion, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD], { stdio: ["pipe", "pipe", "inherit"] })
    const chunks: Buffer[] = []
    let size = 0
    let stopped: OrangeboxError | undefined
    const stop = (why: OrangeboxError): void => {
      stopped ??= why
      child.kill("SIGKILL")
    }
    const timer = setTimeout(() => stop(tooSlow(timeoutMs)), timeoutMs)
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length
      if (size > MOST_ANSWER_BYTES) stop(tooLarge())
      else chunks.push(chunk)
    })
    // A child that died before it read its question shows in its exit, not by the broken pipe.
    child.stdin.on("error", () => {})
    child.once("error", reject)
    child.once("close", (exitCode, signal) => {
      clearTimeout(timer)
      if (stopped) reject(stopped)
      else if (exitCode === 0) resolve(Buffer.concat(chunks).toString("utf8"))
      else reject(died(signal ?? `exit code ${exitCode}`))
    })
    child.stdin.end(JSON.stringify(question))
  })
}

const tooSlow = (timeoutMs: number): InputError =>
  new InputError("SQL_TIMEOUT", {
    what: `the query was stopped after ${formatDuration(timeoutMs * 1000)}`,
    next: "Ask for less, or give it more time with --timeout 60s",
  })

const tooLarge = (): InputError =>
  new InputError("SQL_TOO_LARGE", {
    what: `the answer is larger than ${MOST_ANSWER_BYTES / 1024 / 1024} MiB`,
    next: "Select fewer columns or rows",
  })

const died = (how: string): OrangeboxError =>
  new OrangeboxError("SQL_PROCESS", {
    what: `the process that ran the query died (${how}), most likely for want of memory`,
    next: "Select fewer or smaller values",
  })
