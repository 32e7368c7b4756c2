import { bodyHash, type PayloadOf, SystemError } from "@orangebox/contract"
import type { StepHandle } from "../step-handle.js"
import type { CommittedManifest } from "./committed-manifest.js"
import { commitDerivedManifest } from "./derived-manifest.js"
import { raiseFault } from "./raise-fault.js"

// Which manifest a call is made with: one that its step committed, or one that is read off the request.

/**
 * The manifest that belongs to the call which the step is about to make: its own, and not one that an earlier call was made with or that a
 * step above it committed. Under `audit: "required"` no model is asked without one.
 */
export function takeManifest(
  step: StepHandle,
  sent?: Uint8Array,
  parts?: readonly string[],
): CommittedManifest | undefined {
  const manifest = manifestOf(step)
  const takenFor = manifest && sent && bodyHash(sent)
  if (manifest?.isTaken === false || (takenFor !== undefined && manifest?.takenFor === takenFor)) {
    manifest.isTaken = true
    if (takenFor !== undefined) manifest.takenFor = takenFor
    if (parts !== undefined) manifest.takenParts = parts
    return manifest
  }
  if (step.run.app.keeping.audit !== "required") return undefined
  const error = new SystemError({
    what: "a model is about to be asked without a context manifest of this call",
    where: `${step.runId} step ${step.id}`,
    next: "Call step.context(compiled), or step.context({ items, excluded, request }), on this step before each call",
  })
  const missing = [`context_manifest of step ${step.id}`]
  raiseFault(step, step.state, { trigger: "system_error", detail: error.what, missing }, { stopsRun: true })
  step.run.stop(error)
  throw error
}

/** Whether the step committed a context that none of its calls was made with so far. */
export const hasUntakenManifest = (step: StepHandle): boolean => manifestOf(step)?.isTaken === false

/**
 * Whether a request has to be read by itself: its step says nothing of its contexts, or the request holds all of the one that its context was
 * for, and more: the next call of a tool loop, made by a client.
 */
export function isUntold(step: StepHandle, parts: readonly string[] | undefined): boolean {
  const manifest = manifestOf(step)
  if (manifest === undefined) return true
  const { isTaken, takenParts } = manifest
  if (!isTaken || takenParts === undefined || takenParts.length === 0 || parts === undefined) return false
  return parts.length > takenParts.length && takenParts.every((part, at) => part === parts[at])
}

/** For a prompt the application did not compile: its manifest is read off the request, where there has to be one. */
export function deriveManifest(
  step: StepHandle,
  called: PayloadOf<"model_called">,
  assembled: PayloadOf<"prompt_assembled"> | undefined,
): void {
  if (step.run.app.keeping.audit === "required") commitDerivedManifest(step, step.state, called, assembled)
}

const manifestOf = ({ run, state }: StepHandle): CommittedManifest | undefined => run.manifests.get(state)
