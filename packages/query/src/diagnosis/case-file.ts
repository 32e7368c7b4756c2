import type { Observability, RunEvaluation } from "@orangebox/decisions"
import type { DetailedAudit } from "../cache/cache-text.js"
import type { RunView, StepView } from "../run-view.js"

/** Everything a detector may look at. It is all values: who gathered them has read the store. */
export interface CaseFile {
  readonly view: RunView
  /** The run's model calls against its provider's cache; undefined where nobody has audited it. */
  readonly cache: DetailedAudit | undefined
  /** Its actions against its rules, and the holes in its trail. */
  readonly evaluation: RunEvaluation | undefined
  readonly trail: Observability | undefined
  /** Every delivery and enqueue of the messages that the run handled, in order of time, across runs. */
  readonly messages: ReadonlyMap<string, readonly MessageSighting[]>
  /** For broken prompts: which tool ids the application's own form of them holds, by the number of the call. */
  readonly builtToolIds: ReadonlyMap<number, ReadonlySet<string>>
}

/** A message on its way, at one place. */
export interface MessageSighting {
  readonly runId: string
  readonly n: number
  readonly what: "enqueue" | "dequeue" | "deliver"
  readonly isGood: boolean
  readonly target: string | undefined
  readonly delivered: string | undefined
  /** Conversations of the runs that it caused, where they are known. */
  readonly causedIn: readonly string[]
  readonly isRedelivery: boolean
}

/** Logical model calls, with their attempts folded in. */
export const modelCallsOf = ({ steps }: RunView): readonly StepView[] =>
  steps.filter(({ kind, attemptNo }) => kind === "model" && attemptNo === undefined)

export const toolCallsOf = ({ steps }: RunView): readonly StepView[] => steps.filter(({ kind }) => kind === "tool")

export const attemptsOf = (view: RunView, { children }: StepView): readonly StepView[] =>
  children.map((child) => view.steps[child - 1]!).filter(({ attemptNo }) => attemptNo !== undefined)

/** Why nothing can be said of how a run came out, or undefined where it can. */
export const stillGoing = ({ status }: RunView): string | undefined =>
  status === "running" || status === "silent" ? "the run has no end yet" : undefined

export const isBadEnd = ({ status }: RunView): boolean => status === "failed" || status === "crashed"
