import type { Failure } from "@orangebox/reader"
import { fenceAround } from "@orangebox/text"

/** The codes that agents are told, by the codes of our errors. What is not here is `bad_input`, or `failed` where the machine is at fault. */
const CODES: Readonly<Record<string, readonly string[]>> = {
  not_found: [
    "UNKNOWN_ID",
    "NOTHING_RECORDED",
    "STEP_NUMBER",
    "NO_RUN",
    "NO_BODY",
    "NO_CONTEXT",
    "NO_DATA",
    "NO_BEFORE_AFTER",
  ],
  ambiguous: ["AMBIGUOUS_ID"],
  pruned: ["PRUNED"],
  not_kept: ["BODY_ABSENT", "BODY_LOST"],
  sql_refused: ["SQL_REFUSED", "SQL_INVALID", "SQL_TOO_LARGE"],
  timeout: ["SQL_TIMEOUT"],
  store_newer: ["STORE_VERSION"],
  bad_input: ["USAGE", "ADDRESS_FORM", "BEYOND_END", "STORE_QUERY", "SEARCH_QUERY", "FINDINGS", "FINDINGS_POINTER"],
}

const codeOf = ({ code, what }: Failure): string => {
  if (code === "BODY_ABSENT" && /: pruned/.test(what)) return "pruned"
  return Object.entries(CODES).find(([, ours]) => ours.includes(code))?.[0] ?? "failed"
}

/** `code: what · do`. What happened may quote what was recorded, so it stands in a fence like everything else. */
export const failureText = (failure: Failure, nonce: string): string =>
  `${codeOf(failure)}: ${fenceAround(`${failure.what} · ${failure.next}`, nonce)}`

/** Ours alone: nothing in it was recorded. */
export const refusalText = (code: string, what: string, next: string): string => `${code}: ${what} · ${next}`
