import type { ReplaySource } from "@orangebox/reader"
import {
  type Certification,
  compareOutcomes,
  type Fork,
  type ForkOutcome,
  type OutcomeVerdict,
  reportText,
} from "@orangebox/replay"
import { plural, safeText } from "@orangebox/text"
import type { GlobalOptions } from "../session.js"
import type { ForkedWorkspace } from "./command-workspace.js"
import { commandJson, coverageJson, type EndedCommand, endWords, nextLines, numbersOf } from "./format-replay.js"

export interface Sample {
  readonly arm: "changed" | "control"
  readonly runId: string
  /** Undefined where only the forked call was sent. */
  readonly command: EndedCommand | undefined
  /** How the command ended, or what the forked call was answered with. */
  readonly outcome: string
  /** What is compared between the arms. */
  readonly aspects: ForkOutcome
  /** Whether the call that the fork is at was made. */
  readonly isReached: boolean
  /** The calls that went to a server and came back without an answer. */
  readonly unanswered: readonly string[]
  readonly report: Certification["report"]
  /** Where its copy of the work tree was kept; null when there was none, or it was removed. */
  readonly workspace: string | null
}

export interface ForkResult {
  readonly source: ReplaySource
  readonly fork: Fork
  readonly workspace: ForkedWorkspace | undefined
  readonly samples: readonly Sample[]
}

/** A fork did its work when its step was reached, every call got an answer, and the agent was content. */
export const isSound = ({ report, isReached, unanswered, command }: Sample): boolean =>
  isReached &&
  unanswered.length === 0 &&
  (command === undefined || command.exitCode === 0) &&
  report.divergences.every(({ severity }) => severity !== "halt")

const SHOWN_UNANSWERED = 3

export function verdictOf(samples: readonly Sample[]): OutcomeVerdict | undefined {
  const outcomes = (arm: Sample["arm"]): ForkOutcome[] =>
    samples.filter((sample) => sample.arm === arm).map(({ aspects }) => aspects)
  const control = outcomes("control")
  return control.length === 0 ? undefined : compareOutcomes(control, outcomes("changed"))
}

export function sampleText(sample: Sample, source: ReplaySource, options: GlobalOptions): string {
  const { command, report, runId, unanswered } = sample
  const end = command ? endWords(command) : sentWords(report)
  const lines = [`orangebox: ${sample.arm === "control" ? "control: " : ""}${end}`]
  // A fork is not certified by design, so the line that says so would only worry.
  const numberOf = numbersOf(source)
  lines.push(...reportText(report, { numberOf }).split("\n").slice(0, -1))
  if (!sample.isReached) lines.push("  THE FORK WAS NOT REACHED: the command never made the call it is at")
  for (const words of unanswered.slice(0, SHOWN_UNANSWERED))
    lines.push(`  NO ANSWER from the upstream: ${safeText(words)}`)
  const hidden = unanswered.length - SHOWN_UNANSWERED
  if (hidden > 0) lines.push(`  … and ${plural(hidden, "more call")} without one`)
  lines.push(...nextLines(source, runId, options))
  if (sample.workspace !== null) lines.push(`  files ${sample.workspace}`)
  return lines.join("\n")
}

/** What became of the calls that were sent again. */
function sentWords({ counts }: Sample["report"]): string {
  if (counts.live > 0) return "the forked call was sent"
  return counts.simulated > 0 ? "the forked call was answered by a rule" : "the forked call was not sent"
}

export function verdictText({ verdict, aspects }: OutcomeVerdict): string {
  const words = { effect: "the change has an effect", no_effect: "no effect was found", inconclusive: "inconclusive" }
  const lines = aspects.map(({ aspect, verdict: found, reason, p }) => {
    const chance = p === null ? "" : ` (p = ${p.toFixed(3)})`
    return `  ${aspect.padEnd(8)}${words[found]}: ${reason}${chance}`
  })
  return [`orangebox: ${words[verdict]}`, ...lines].join("\n")
}

/** What is sent again is what the agent asked: a fork keeps that as the question, and what it made of it beside it. */
export function forkOfForkText({ run, recording }: ReplaySource, fork: Fork): string | undefined {
  const isChanged = recording.events.some(
    ({ step_id, artifact_refs }) =>
      fork.isCut(step_id ?? "") && artifact_refs.some(({ artifact_type }) => artifact_type === "request_sent"),
  )
  if (!isChanged) return undefined
  return `orangebox: ${run.row.runId} is a fork itself: what it changed in its requests is not changed again; name it once more with --set or --profile`
}

export function planText(source: ReplaySource, fork: Fork): string {
  const n = numbersOf(source)(fork.call.stepId)
  const side = fork.at === "before_request" ? "before the request" : "after the answer"
  const rules = fork.profile.rules.length === 0 ? "nothing changed" : plural(fork.profile.rules.length, "rule")
  return `orangebox: fork of ${source.run.row.runId} ${side} of #${n ?? "?"} ${fork.call.kind} ${safeText(fork.call.name)}, ${rules}`
}

export function forkJson({ source, fork, workspace, samples }: ForkResult) {
  const verdict = verdictOf(samples)
  return {
    source_run: source.run.row.runId,
    fork_step: fork.call.stepId,
    at: fork.at,
    override_profile_id: fork.profileId,
    workspace: workspace ? workspaceJson(workspace) : null,
    samples: samples.map(
      ({ arm, runId, command, outcome, aspects, isReached, unanswered, report, workspace: kept }) => ({
        arm,
        run: runId,
        command: command ? commandJson(command) : null,
        outcome,
        aspects,
        reached: isReached,
        unanswered,
        workspace: kept,
        report,
      }),
    ),
    verdict: verdict ?? null,
    coverage: coverageJson(source),
    behind_bytes: source.behindBytes,
  }
}

const workspaceJson = ({ told, snapshotId }: ForkedWorkspace) => ({
  restored: told.isRestored,
  snapshot: snapshotId,
  not_restored: told.isRestored ? told.notRestored : [],
  why: told.isRestored ? null : told.why,
})
