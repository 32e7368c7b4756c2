import type { Answer } from "@orangebox/reader"
import { safeJson } from "@orangebox/text"
import { EXIT } from "./exit-code.js"
import type { GlobalOptions, Session } from "./session.js"

/** Prints an answer in the form that was asked for. Hands back the exit code of one that a script should stop at. */
export function tell({ terminal }: Session, { json }: GlobalOptions, answer: Answer): number | undefined {
  for (const remark of answer.remarks ?? []) terminal.say(`orangebox: ${remark}`)
  const print = answer.isVerbatim ? terminal.outVerbatim : terminal.out
  if (json) terminal.outVerbatim(safeJson(answer.json(), 2))
  else print(answer.text())
  return answer.isBad ? EXIT.findings : undefined
}
