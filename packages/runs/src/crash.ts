import {
  countIn,
  type Event,
  integerIn,
  type LoosePayload,
  type ProcessEnd,
  payloadOf,
  textIn,
} from "@orangebox/contract"
import { recordedText, recordedWord } from "@orangebox/text"
import type { Run } from "./fold-run.js"

/** How a run ended that could not say so itself: its process is gone, and left it open. */
export interface Crash extends ProcessError {
  readonly event: Event
  readonly pid: number | undefined
  /** What shows that the process is gone. */
  readonly evidence: string | undefined
  /** The step that was under way: the one the annotation names, else the last one without an end. */
  readonly step: number | undefined
  /** Undefined in recordings of before schema 1.2. */
  readonly endedBy: ProcessEnd | undefined
  readonly exitCode: number | undefined
  /** The body with the error's stack and causes. */
  readonly errorRef: string | undefined
  /** Why the run may have ended all the same: its end may be among what was lost. */
  readonly doubt?: string
}

/** The error a process ended with, where it said so. */
export interface ProcessError {
  readonly errorClass: string | undefined
  readonly errorSummary: string | undefined
}

export const processErrorIn = (payload: LoosePayload): ProcessError => ({
  errorClass: textIn(payload, "error_class"),
  errorSummary: textIn(payload, "error_summary"),
})

export function crashOf(event: Event, stepNo: (stepId: string | undefined) => number | undefined): Crash {
  const payload = payloadOf(event)
  return {
    event,
    pid: countIn(payload, "pid"),
    evidence: textIn(payload, "evidence"),
    step: stepNo(textIn(payload, "last_open_step_id")),
    endedBy: textIn(payload, "ended_by") as ProcessEnd | undefined,
    exitCode: integerIn(payload, "exit_code"),
    ...processErrorIn(payload),
    errorRef: textIn(payload, "error_ref"),
  }
}

/** What ended a run, in one sentence: the error it failed with, or how its process left it. Undefined where nothing went wrong, or nothing is known. */
export function endWords({ crash, facts, status }: Pick<Run, "crash" | "facts" | "status">): string | undefined {
  if (crash !== undefined) return crashWords(crash)
  if (status !== "failed") return undefined
  const { errorClass, errorSummary } = facts
  return errorWordsOf({ errorClass: errorClass ?? undefined, errorSummary: errorSummary ?? undefined }) || undefined
}

/** How it ended in one sentence, no wider than what was seen: who says nothing may have been killed, or lost with the machine. */
export function crashWords(crash: Crash): string {
  return crash.doubt === undefined ? endingWords(crash) : `${endingWords(crash)}; or ${recordedWord(crash.doubt, 120)}`
}

function endingWords(crash: Crash): string {
  const { pid, endedBy, exitCode, step } = crash
  const process = pid === undefined ? "process" : `process ${pid}`
  const where = step === undefined ? "" : ` in #${step}`
  const code = exitCode === undefined ? "" : `, exit code ${exitCode}`
  const error = errorWordsOf(crash)
  switch (endedBy) {
    case "uncaught_exception":
      return `uncaught exception${where}${error === "" ? "" : `: ${error}`} (${process}${code})`
    case "unhandled_rejection":
      return `unhandled rejection${where}${error === "" ? "" : `: ${error}`} (${process}${code})`
    case "exit": {
      const after = error === "" ? "" : `, after an uncaught ${error}`
      return `${process} exited${where}${exitCode === undefined ? "" : ` with code ${exitCode}`} and left the run open${after}`
    }
    case "closed":
      return `the recorder was closed${where} and left the run open (${process})`
    default: {
      const evidence = crash.evidence === undefined ? "" : `: ${recordedText(crash.evidence, 120)}`
      return `${process} died${where}${evidence}${endedBy === "gone" ? "; it said nothing, so how is not known" : ""}`
    }
  }
}

function errorWordsOf({ errorClass, errorSummary }: ProcessError): string {
  const said = errorSummary === undefined || errorSummary === "" ? [] : [recordedText(errorSummary, 160)]
  return [...(errorClass === undefined ? [] : [recordedWord(errorClass, 80)]), ...said].join(": ")
}
