import { type Failure, failureOf, isBadInput, withoutSecrets } from "@orangebox/reader"
import { safeJson } from "@orangebox/text"
import type { Reply } from "./reply.js"

/** What a request is refused with: the code, what, where and next of the command line, with the status that HTTP has for it. */
interface Problem extends Failure {
  readonly type: string
  readonly status: number
}

/** Statuses of codes, where it is not 400 for what was asked and 500 for what went wrong here. */
const STATUSES: Readonly<Record<number, readonly string[]>> = {
  404: [
    "UNKNOWN_ID",
    "NOTHING_RECORDED",
    "STEP_NUMBER",
    "NO_RUN",
    "NO_BODY",
    "NO_CONTEXT",
    "NO_SUCH_PATH",
    "NO_ITEM",
    "NO_PICTURE",
  ],
  405: ["METHOD"],
  409: ["AMBIGUOUS_ID"],
  410: ["PRUNED", "BODY_ABSENT"],
  416: ["BEYOND_END"],
  503: ["NO_DATA", "NOT_A_DATA_FOLDER", "STORE_MISSING", "STORE_VERSION", "STORE_DAMAGED", "BUSY", "TOO_LONG"],
  401: ["NO_KEY"],
  403: ["OTHER_ORIGIN"],
  414: ["URL_TOO_LONG"],
  413: ["BODY_TOO_LONG"],
  421: ["OTHER_HOST"],
}

async function problemOf(error: unknown): Promise<Problem> {
  // What is wrong may be quoted from what was asked or recorded.
  const failure = await withoutSecrets(failureOf(error))
  const told = Object.entries(STATUSES).find(([, codes]) => codes.includes(failure.code))?.[0]
  const status = told === undefined ? (isBadInput(error) ? 400 : 500) : Number(told)
  return { type: `urn:orangebox:problem:${failure.code.toLowerCase()}`, status, ...failure }
}

/** What is wrong as an answer. */
export async function refusalOf(error: unknown): Promise<Reply> {
  const problem = await problemOf(error)
  const again: Readonly<Record<string, string>> = problem.status === 503 ? { "retry-after": "1" } : {}
  return {
    status: problem.status,
    headers: { "content-type": "application/problem+json", ...again },
    body: safeJson(problem),
  }
}
