import { summarizeText } from "@orangebox/contract"
import { describeError } from "../described-error.js"
import type { Goodbye } from "../process-lifecycle.js"
import type { RunState } from "../run-state.js"

/**
 * The process, or its recorder, ends with a run still open: that is a fault while it can still be told here, with what the run saw. What it
 * means for the run itself is for the collector to say.
 */
export function leaveRun(run: RunState, { exitCode, reason, thrown }: Goodbye): void {
  const how = reason === "closed" ? "its recorder was closed" : `its process ended (exit code ${exitCode ?? "unknown"})`
  const error = thrown && describeError(thrown.error, (text) => summarizeText(run.builder.capture.searched(text)))
  const detail = error ? `${error.errorClass}: ${error.summary}` : `${how} with the run open`
  try {
    run.root?.fault({ trigger: "system_error", detail })
    run.discardSpool()
  } catch {
    // The spool stays, and is taken for what it is when the process is found dead.
  }
}
