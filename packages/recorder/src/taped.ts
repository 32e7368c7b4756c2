import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { OrangeboxError } from "@orangebox/contract"
import type { RecorderOptions } from "./options.js"
import type { Recorder } from "./recorder.js"
import type { Handoff } from "./step.js"

/** Names a file that says how this process is answered from a recording; `orangebox replay` and `fork` set it. */
export const TAPE_VARIABLE = "ORANGEBOX_TAPE"

/** The step that asked for the runs of this process, as `trace/run/step`; `orangebox run`, `replay` and `fork` set it. */
const PARENT_VARIABLE = "ORANGEBOX_PARENT"

/**
 * A recorder whose handles are answered from a tape. What can do that is brought by the command that set the variable: an application that only
 * records does not carry it. It fails where it cannot be done, for what should have been answered would otherwise happen again.
 */
export function openTaped(settingsFile: string, options: RecorderOptions): Recorder {
  try {
    const { door } = JSON.parse(readFileSync(settingsFile, "utf8")) as { door: string }
    const { openTape } = createRequire(import.meta.url)(door) as {
      openTape(settingsFile: string, options: RecorderOptions): Recorder
    }
    return openTape(settingsFile, options)
  } catch (cause) {
    if (cause instanceof Error && cause.name === "OrangeboxError") throw cause
    throw new OrangeboxError("TAPE", {
      what: `${TAPE_VARIABLE} is set, and the recording it names cannot be opened`,
      where: settingsFile,
      next: "Start the program by orangebox replay or fork, or without the variable",
      cause,
    })
  }
}

const HANDOFF = /^([0-9a-f]{32})\/(run_[0-9A-Z]{26})\/([0-9a-f]{16})$/

/** Who started this process, where it was started by a recording. */
export function parentOfProcess(env: Readonly<Record<string, string | undefined>>): Handoff | undefined {
  const [, traceId, runId, stepId] = HANDOFF.exec(env[PARENT_VARIABLE] ?? "") ?? []
  return traceId && runId && stepId ? { traceId, runId, stepId } : undefined
}

/** What the environment of a process is changed by, whose runs are to be part of this one. */
export const variablesForParent = ({ traceId, runId, stepId }: Handoff): Record<string, string> => ({
  [PARENT_VARIABLE]: `${traceId}/${runId}/${stepId}`,
})
