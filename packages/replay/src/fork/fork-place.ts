import { OrangeboxError } from "@orangebox/contract"
import type { Tape, TapeCall } from "../tape/tape.js"

/** The call a fork is made at, and on which side of it. */
export interface ForkPlace {
  readonly call: TapeCall
  readonly at: "before_request" | "after_response"
  readonly snapped: string | undefined
}

/** Where a fork can be made. Inside a batch of tools the model's answer that asked for them is the last moment everything is still one. */
export function forkPlace(
  tape: Tape,
  { stepId, at = "before_request" }: { readonly stepId: string; readonly at?: ForkPlace["at"] },
): ForkPlace {
  const call = tape.calls.find((candidate) => candidate.stepId === stepId)
  if (call === undefined) {
    const inside = tape.calls.find((candidate) => !candidate.isInferred && isInside(tape, candidate.stepId, stepId))
    if (inside === undefined) {
      throw new OrangeboxError("FORK_STEP", {
        what: `${stepId} is no call of ${tape.runId} and holds none`,
        next: "Name a model, tool or retrieval step: orangebox show lists them",
      })
    }
    return {
      call: inside,
      at: "before_request",
      snapped: `${stepId} is no call; the fork is at the first call inside it`,
    }
  }
  const [firstTry] = call.attempts
  const tried = tape.calls.find((candidate) => candidate.stepId === firstTry && candidate.sig === call.sig)
  if (tried) return { call: tried, at, snapped: undefined }
  if (call.kind !== "tool") return { call, at, snapped: undefined }
  const batch = tape.calls.filter((other) => other.kind === "tool" && other !== call && overlaps(other, call))
  if (batch.length === 0 && !call.isInferred) return { call, at, snapped: undefined }
  const asker = tape.calls.findLast(
    (other) =>
      other.kind === "model" &&
      !other.isInferred &&
      other.attempts.length === 0 &&
      other.closedAt !== null &&
      other.closedAt < call.openedAt &&
      other.lane === call.lane,
  )
  if (asker === undefined) {
    if (!call.isInferred) return { call, at, snapped: undefined }
    throw new OrangeboxError("FORK_STEP", { what: `nothing was recorded that asked for the tool call ${stepId}` })
  }
  const why = call.isInferred ? "the agent runs this tool by itself" : "the tool ran in a batch"
  return { call: asker, at: "after_response", snapped: `${why}; the fork is at the answer that asked for it` }
}

function isInside(tape: Tape, stepId: string, outer: string): boolean {
  for (let id: string | null | undefined = stepId; id != null; id = tape.steps.get(id)?.parentStepId) {
    if (id === outer) return true
  }
  return false
}

const overlaps = (a: TapeCall, b: TapeCall): boolean =>
  a.openedAt < (b.closedAt ?? Number.POSITIVE_INFINITY) && b.openedAt < (a.closedAt ?? Number.POSITIVE_INFINITY)
