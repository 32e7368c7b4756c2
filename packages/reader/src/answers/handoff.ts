import { randomBytes } from "node:crypto"
import { given } from "@orangebox/contract"
import { handoffJson, handoffText } from "@orangebox/query"
import { safeLine } from "@orangebox/text"
import { findTarget, runOf } from "../address/find-target.js"
import { saidFindings } from "../annotations/findings.js"
import { diagnoseRun } from "../diagnosis/diagnose-run.js"
import type { Answer } from "./answer.js"
import { inFolder, type PlacedReading } from "./placed.js"

export interface HandoffAsked {
  readonly budget?: number
  /** What the agent is to find out. */
  readonly question?: string
  /** Columns of the terminal, where a person looks at it first. */
  readonly width?: number
}

/** A run for a debugging agent. Recorded text in it has a fence of its own. */
export async function answerHandoff(
  reading: PlacedReading,
  { budget, question, width }: HandoffAsked,
): Promise<Answer> {
  const { reader, store, data } = reading
  const run = await runOf(reader, await findTarget(reader, reading.address))
  const { runId } = run.row
  const parts = {
    view: run.view,
    diagnosis: await diagnoseRun(reader, store, run, { data }),
    said: await saidFindings(reader, run),
  }
  const asked = question === undefined ? undefined : safeLine(question).slice(0, 300)
  // Another run may be the last one by the time this is read.
  const address = reading.file ? reading.word(runId) : runId
  const place = reading.file || data === undefined ? "" : `${inFolder(data)} `
  const shown = { address, place, ...given({ budget, question: asked }) }
  return {
    text: () => handoffText(parts, { ...shown, ...given({ width }), nonce: randomBytes(4).toString("hex") }),
    json: () => ({ run_id: runId, ...handoffJson(parts, shown), ...reading.freshness }),
  }
}
