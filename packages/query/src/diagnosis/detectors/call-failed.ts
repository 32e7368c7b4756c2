import { payloadOf, textIn } from "@orangebox/contract"
import { attemptsOf, type CaseFile, modelCallsOf } from "../case-file.js"
import { at, type Detected } from "../finding.js"

/** The run ended where a model call failed, and came to nothing after it. Why it was refused, a detector that knows the reason tells in its place. */
export function callFailed({ view }: CaseFile): Detected {
  if (view.status !== "failed") return []
  const call = modelCallsOf(view).at(-1)
  if (call?.error === undefined) return []
  const isLast = !view.steps.some(({ n, kind, parent }) => n > call.n && parent !== call.n && kind !== "step")
  const sent = attemptsOf(view, call).findLast(({ error }) => error !== undefined) ?? call
  const { httpStatus, errorClass } = sent.error ?? call.error
  // Whoever breaks a call off has reasons of its own.
  const isOwnDoing =
    /abort|cancel/i.test(errorClass ?? "") || textIn(payloadOf(sent.closed), "stream_end") === "client_abort"
  if (!isLast || isOwnDoing) return []
  const kind =
    httpStatus === undefined ? "no_answer" : (KINDS[httpStatus] ?? (httpStatus >= 500 ? "provider_error" : "refused"))
  return [
    {
      detector: "call_failed",
      kind,
      severity: "fatal",
      confidence: "proven",
      cause: call.n,
      fails: call.n,
      claim: `the last model call, #${call.n}, failed${httpStatus === undefined ? " without an answer" : `: ${httpStatus}`}, and the run ended there`,
      by: null,
      evidence: [at(sent, "error"), at(sent, "request")],
    },
  ]
}

const KINDS: Readonly<Record<number, string>> = {
  401: "not_authenticated",
  403: "not_allowed",
  404: "not_found",
  429: "rate_limited",
}
