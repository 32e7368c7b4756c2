import {
  type AbsentReason,
  advice,
  countIn,
  type Event,
  OrangeboxError,
  payloadOf,
  suggested,
} from "@orangebox/contract"
import type { PromptAccount } from "@orangebox/dialects"
import { runAddress } from "../format-run.js"
import type { RunView } from "../run-view.js"
import { besidePrompt } from "./beside-prompt.js"
import { type ContextChanges, changesBetween } from "./context-changes.js"
import type { Bodies, ContextItem, ContextReading } from "./context-reading.js"
import { isBelow } from "./lanes.js"
import { type ProviderContext, providerContextOf } from "./provider-context.js"
import { readContext } from "./read-context.js"
import { accountOf, type Delivery } from "./rebuild-prompt.js"
import { previousContext, type RecordedContext, recordedContexts } from "./recorded-contexts.js"

/** What one step saw, why, what was left out, and what became of it since the context before. */
export interface ContextView extends ContextReading {
  /** Undefined for the first context of its lane. */
  readonly changes: ContextChanges | undefined
  readonly provider: readonly ProviderContext[]
  /** What faults added to the manifest; revision 0 is what compiling itself found missing. */
  readonly revisions: readonly ManifestRevision[]
  readonly delivery: Delivery
  /** Where the compiled prompt stands in the request, and what stands beside it; undefined where that is not known. */
  readonly account: PromptAccount | undefined
  /** What the request held beside the compiled prompt; deduced from its bytes. */
  readonly beside: readonly ContextItem[]
}

export interface ManifestRevision {
  readonly revision: number
  readonly trigger: string
  readonly detail: string
  readonly missing: readonly string[]
  readonly artifacts: readonly { readonly id: string; readonly hash: string; readonly sizeBytes: number }[]
}

/**
 * The context of step #n.
 *
 * `bodies` are those that `contextBodies` names for it and for the one before it, and those that `promptBodies` names; whatever is not
 * there is said, not guessed.
 */
export function contextOf(view: RunView, n: number, bodies: Bodies): ContextView {
  const contexts = recordedContexts(view)
  const [context, ...others] = contextsWithin(view, contexts, n)
  if (context && others.length === 0) return viewContext(contexts, context, bodies)
  const found = context ? `has ${others.length + 1} contexts below it` : "has no context: it called no model"
  throw new OrangeboxError("NO_CONTEXT", {
    what: `step #${n} ${found}`,
    where: runAddress(view),
    next: advice`See the contexts of the run with: ${suggested("context", runAddress(view))}`,
  })
}

/** The contexts a step stands for: its own, that of the call whose attempt it is, or those of the calls below it. */
export function contextsWithin(
  view: RunView,
  contexts: readonly RecordedContext[],
  n: number,
): readonly RecordedContext[] {
  // A step may compile again before it calls: what stands is the last.
  const own = contexts.findLast((context) => context.n === n)
  if (own) return [own]
  const step = view.steps[n - 1]
  if (step?.attemptNo !== undefined) return contexts.filter((context) => context.n === step.parent)
  return contexts.filter((context) => isBelow(view, context.n, n))
}

/** One of a run's contexts, seen beside the one before it. */
export function viewContext(
  contexts: readonly RecordedContext[],
  context: RecordedContext,
  bodies: Bodies,
): ContextView {
  const reading = readContext(context, bodies)
  const previous = previousContext(contexts, context)
  const account = accountOf(reading, bodies)
  return {
    ...reading,
    changes: previous && changesSince(readContext(previous, bodies), reading),
    provider: providerContextOf(context, bodies),
    revisions: revisionsOf(reading),
    delivery: account?.delivery ?? "unknown",
    account,
    beside: besidePrompt(reading, bodies),
  }
}

/** What is not known cannot be compared: unknown is not "nothing changed". */
export function changesSince(before: ContextReading, now: ContextReading): ContextChanges | undefined {
  return before.basis === "unknown" || now.basis === "unknown" ? undefined : changesBetween(before, now)
}

function revisionsOf({ faults, revision: newest, context }: ContextReading): ManifestRevision[] {
  const told = faults.map(({ trigger, detail, missing, artifacts }, index) => ({
    // Each revision adds one fault; what compiling itself found missing is in the first manifest.
    revision: Math.max(0, newest - (faults.length - 1 - index)),
    trigger,
    detail,
    missing,
    artifacts: artifacts.map(({ artifact_id, hash, size_bytes }) => ({ id: artifact_id, hash, sizeBytes: size_bytes })),
  }))
  const unread = context.manifests.filter((event) => revisionIn(event) > newest)
  return [...told, ...unread.map(unreadRevision)]
}

const revisionIn = (event: Event): number => countIn(payloadOf(event), "revision") ?? 0

function unreadRevision(event: Event): ManifestRevision {
  const absent: AbsentReason | undefined = event.artifact_refs.find((ref) => ref.absent !== undefined)?.absent
  const detail = absent === undefined ? "its body is not there" : `its body is not there: ${absent.replace("_", " ")}`
  return { revision: revisionIn(event), trigger: "unknown", detail, missing: [], artifacts: [] }
}
