import type { SourceDetector } from "@orangebox/contract"
import type { AskedTool, Observability, RunEvaluation } from "@orangebox/decisions"
import type { DetailedAudit } from "../cache/cache-text.js"
import type { RunView, StepView } from "../run-view.js"

/** Everything a detector may look at. It is all values: who gathered them has read the store. */
export interface CaseFile {
  readonly view: RunView
  /** The run's model calls against its provider's cache; undefined where it was not audited. */
  readonly cache: DetailedAudit | undefined
  /** Its actions against its rules, and the holes in its trail. */
  readonly evaluation: RunEvaluation | undefined
  readonly trail: Observability | undefined
  /** Every delivery and enqueue of the messages that the run handled, in order of time, across runs. */
  readonly messages: ReadonlyMap<string, readonly MessageSighting[]>
  /** Prompts whose tool calls and results do not pair, by the number of the call. */
  readonly brokenPrompts: ReadonlyMap<number, BrokenPrompt>
  /** What the user says of the outcome: a run that completed may be wrong all the same. */
  readonly told: ToldOutcome
  /** What steps wrote and what came back to them, by number; of a step that is not in it nothing was kept. */
  readonly words: ReadonlyMap<number, StepWords>
  readonly finalOutput: string | undefined
  /** Which model call asked for a tool, by the numbers of both. */
  readonly askedBy: ReadonlyMap<number, number>
  /** Tool calls that models made, beside the schemas that their requests sent. */
  readonly askedTools: readonly AskedTool[]
  /** What manifests say was at hand and left out, in the order of the prompts. */
  readonly leftOut: readonly LeftOutOfContext[]
  /** Calls that are known to change something. */
  readonly writes: ReadonlySet<number>
  /** Good runs of the same input, newest first; looked for only where this one came out badly. */
  readonly siblings: readonly GoodSibling[]
  /** How long steps of a kind and name take, as far as the store has seen them. */
  readonly usual: ReadonlyMap<string, Usual>
  /** What the source that is investigated knows about its own steps; undefined where none is. */
  readonly source: InvestigatedSource | undefined
  /** The sources that have something to say when they are asked. */
  readonly sourcesToAsk: ReadonlySet<string>
}

export interface BrokenPrompt {
  /** The results, by the ids of their calls, that the application's own form of it holds; undefined where that is not on record. */
  readonly builtResults: ReadonlySet<string> | undefined
  /** Where in the bytes of the request each call or result stands, by id. */
  readonly places: ReadonlyMap<string, readonly [from: number, to: number]>
}

export interface InvestigatedSource {
  readonly name: string
  readonly notes: readonly string[]
  readonly detectors: readonly SourceDetector[]
  /** What of it cannot be used, a sentence each. */
  readonly problems: readonly string[]
}

/** One prompt, by the number of the step that it was made for. */
export interface LeftOutOfContext {
  readonly n: number
  readonly excluded: readonly { readonly id: string; readonly path: string | undefined }[]
  /** Ids and paths of what stood in it. */
  readonly included: ReadonlySet<string>
}

export interface GoodSibling {
  readonly runId: string
  readonly writes: readonly { readonly n: number; readonly signature: string }[]
}

/** How many took less than a bound and at least the one before it, in microseconds; in the order of the bounds. */
export interface Usual {
  readonly count: number
  readonly byBound: readonly (readonly [bound: number, count: number])[]
}

export interface ToldOutcome {
  readonly isWrong?: boolean
  /** What it should have come to. */
  readonly expected?: string
  /** The step in which it shows, where that was asked about. */
  readonly at?: number
}

export interface StepWords {
  readonly said: string
  readonly got: string
}

/** A message on its way, at one place. */
export interface MessageSighting {
  readonly runId: string
  readonly n: number
  readonly what: "enqueue" | "dequeue" | "deliver"
  /** It was taken: acknowledged, or not, and handled all the same. */
  readonly isGood: boolean
  /** The queue was told that it was not taken, or nothing. */
  readonly isUnacknowledged: boolean
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

/** It failed, broke a rule, or the user says that it is wrong. */
export const isBadOutcome = ({ view, told, evaluation }: Pick<CaseFile, "view" | "told" | "evaluation">): boolean =>
  isBadEnd(view) ||
  told.isWrong === true ||
  told.expected !== undefined ||
  (evaluation?.results.some(({ status }) => status === "fail") ?? false)

export const isBadEnd = ({ status }: RunView): boolean => status === "failed" || status === "crashed"
