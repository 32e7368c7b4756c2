import type { ActionType, CaptureMode, TokenUsage } from "@orangebox/contract"
import type { RunStatus, StepStatus } from "@orangebox/runs"

/**
 * A place in recorded text. `ref` names the body; null means the evidence is in the event itself. Offsets count bytes of the stored body,
 * as slices of bodies do everywhere; without them the whole body is meant.
 */
export interface EvidencePointer {
  readonly stepId: string
  readonly ref: string | null
  readonly start?: number
  readonly end?: number
}

/**
 * One committed action boundary, as plain data: what an agent did, read from the events around it. Checks evaluate it and DecisionEvents
 * are made of it.
 *
 * A text that is null was not kept (hashed capture, pruned, shed): a rule that asks about it must answer `unknown`. `unread` lists which parts
 * of the action could not be read for that reason, or not wholly because a secret was masked in them; a list such as `paths` is complete only
 * when the parts it is read from are not in it.
 */
export interface Action {
  /** Of the boundary event; the decision's own id is derived from it. */
  readonly eventId: string
  readonly stepId: string
  readonly parentStepId: string | null
  /** Position of the step in the run, in opening order, from 1: the `#n` people address it by. */
  readonly stepNo: number
  readonly boundary: ActionBoundary
  readonly type: ActionType
  readonly summary: string
  readonly status: StepStatus
  readonly openedAt: string
  readonly closedAt: string | null
  /** Who deduced the boundary; null when it was recorded. */
  readonly inferredBy: string | null
  readonly capture: CaptureMode | null
  /** The model call that asked for this action, or that is this action; null where none is known. */
  readonly modelStepId: string | null
  readonly unread: readonly ActionPart[]
  readonly tool: ActionTool | null
  /** What the agent said, where the action is a completion, a message or the final output. */
  readonly output: ActionText | null
  /** It is the run's last word, too. */
  readonly isFinal?: true
  /** Files the tool itself was told to touch; what a shell command touches is read from `commands`. */
  readonly paths: readonly TouchedPath[]
  readonly commands: readonly RanCommand[]
  readonly edits: readonly FileEdit[]
  readonly testRuns: readonly TestRun[]
  readonly commits: readonly Commit[]
  readonly pullRequests: readonly PullRequest[]
  readonly targets: readonly NetworkTarget[]
  readonly evidence: readonly EvidencePointer[]
}

/** What makes the action a boundary: an accepted completion, a tool call, the final output, the application's own word, a person's. */
export type ActionBoundary = "completion" | "tool" | "output" | "decision" | "override"

export type ActionPart = "args" | "result" | "output"

export interface ActionText {
  readonly text: string | null
  readonly ref: string | null
}

export interface ActionTool {
  readonly name: string
  readonly callId: string | null
  /** The arguments as a value; undefined when their text is not kept, the text itself when it is not JSON. */
  readonly args: unknown
  readonly argsText: string | null
  readonly argsRef: string
  readonly resultText: string | null
  /** Null when the tool gave nothing back or has not ended. */
  readonly resultRef: string | null
  readonly status: StepStatus
  readonly exitCode: number | null
  /** The configuration says what the tool does, so nothing about it is a guess. */
  readonly isDescribed?: true
}

export interface TouchedPath {
  /** As the agent wrote it: relative or absolute, with whatever tricks it holds. */
  readonly path: string
  readonly access: "read" | "write" | "delete"
  readonly evidence: EvidencePointer
}

export interface RanCommand {
  /** The command line as one shell text; a list of words is quoted into one. */
  readonly text: string
  /** Where it was told to run, as written. */
  readonly workingDirectory: string | null
  readonly exitCode: number | null
  readonly evidence: EvidencePointer
}

export interface FileEdit {
  readonly path: string
  /** Where the file stood before, when it was moved: there it is gone. */
  readonly movedFrom?: string
  readonly kind: "create" | "change" | "delete"
  /** Unified diff of what the tool was told; line numbers are of the fragment where only a fragment was given. */
  readonly diff: string
  readonly linesAdded: number
  /** Null where the old text is not known: a whole file was written over whatever stood there. */
  readonly linesRemoved: number | null
  /** All changes of the file since the run began, where the work tree showed them, or they were summed up while their text was there. */
  readonly net?: { readonly added: number; readonly removed: number | null }
  readonly beforeHash: string | null
  readonly afterHash: string | null
  readonly evidence: EvidencePointer
}

export interface TestRun {
  readonly runner: string
  /** Which tests: files, folders, names it was told; empty for all there are. */
  readonly scope: readonly string[]
  readonly command: string
  readonly exitCode: number | null
  /** Null is unknown: the output was not kept, cut, or not understood. */
  readonly passed: number | null
  readonly failed: number | null
  readonly skipped: number | null
  readonly outcome: "passed" | "failed" | "unknown"
  readonly summary: string
  readonly evidence: EvidencePointer
}

export interface Commit {
  /** As git printed it, often abbreviated; null when only the command is known. */
  readonly id: string | null
  readonly message: string | null
  readonly evidence: EvidencePointer
}

export interface PullRequest {
  readonly url: string | null
  readonly title: string | null
  readonly evidence: EvidencePointer
}

export interface NetworkTarget {
  /** A URL or host as written. */
  readonly target: string
  readonly evidence: EvidencePointer
}

/** A run as checks see it: its actions in order, and what holds for all of them together. */
export interface RunActions {
  readonly runId: string
  readonly traceId: string
  readonly status: RunStatus
  readonly capture: CaptureMode | null
  /** What the user asked, in the first words kept of it. */
  readonly request: ActionText
  readonly actions: readonly Action[]
  /** What looks at the work tree found changed, in order. */
  readonly seenChanges?: readonly FileEdit[] | undefined
  /** The work tree, where it was looked at before the first action and after the last, and nothing that differs was left out. */
  readonly workTree?: WorkTree | undefined
  readonly stepCount: number
  readonly modelCalls: readonly ModelUse[]
}

export interface WorkTree {
  /** Null where it is not kept. */
  readonly root: string | null
}

/** What one logical model call used, for limits on money and tokens. */
export interface ModelUse {
  readonly stepId: string
  readonly provider: string
  readonly modelId: string | null
  readonly at: string
  readonly usage: TokenUsage | null
  readonly serviceTier: string | null
  readonly cacheWrite1hTokens: number | null
}
