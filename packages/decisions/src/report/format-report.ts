import { formatDuration, formatMoment, plural, shortLine } from "@orangebox/text"
import type { ReportEvaluation, RunReport, TimelineEntry } from "./run-report.js"

/** How long after the run began, or how long it took. */
export const durationWords = (ms: number | null): string => formatDuration(ms === null ? undefined : ms * 1000)

export const STATUS_WORDS: Readonly<Record<RunReport["run"]["status"], string>> = {
  completed: "completed",
  failed: "failed",
  crashed: "crashed",
  running: "still in progress",
  silent: "still in progress, or ended without saying so",
}

function actionCounts({ actions }: RunReport["summary"]): string {
  return Object.entries(actions)
    .sort((a, b) => b[1] - a[1])
    .map(([type, count]) => `${count} ${type}`)
    .join(", ")
}

/** One line each: the figures a reader wants before anything else. */
export function summaryRows(report: RunReport): (readonly [name: string, value: string])[] {
  const { run, summary } = report
  const tests =
    summary.test_runs === 0
      ? "none"
      : `${plural(summary.test_runs, "run")}, the last one ${summary.last_test_outcome === "unknown" ? "with an unknown outcome" : summary.last_test_outcome}`
  const failed = summary.failed_model_calls === 0 ? "" : `, ${summary.failed_model_calls} failed`
  const tokens = `${summary.input_tokens?.toLocaleString("en-US") ?? "?"} in, ${summary.output_tokens?.toLocaleString("en-US") ?? "?"} out`
  const commands = `${plural(summary.commands, "command")}${summary.failed_commands === 0 ? "" : `, ${summary.failed_commands} failed`}`
  return [
    ["run", `${STATUS_WORDS[run.status]}, ${durationWords(run.duration_ms)}, kept ${run.capture_mode ?? "unknown"}`],
    ...(run.ended_by === null ? [] : [["ended by", run.ended_by] as const]),
    ["decisions", summary.decisions === 0 ? "none" : `${summary.decisions}: ${actionCounts(summary)}`],
    ["model", `${plural(summary.model_calls, "call")}${failed}; ${tokens}`],
    ["changes", `${changeWords(summary)}; ${commands}`],
    ["tests", tests],
    ["violations", `${summary.violations.fail} fail, ${summary.violations.warn} warn`],
    [
      "trail",
      `${plural(summary.observability_failures, "observability failure")}, ${plural(summary.bypasses, "bypass", "bypasses")}`,
    ],
    ...(summary.lost_events === 0
      ? []
      : [["lost", `${plural(summary.lost_events, "event")} of the run; what is said here is of the rest`] as const]),
    ...report.recorded_evaluations
      .filter(({ differs }) => differs !== false)
      .map((one) => ["on record", evaluationWords(one)] as const),
  ]
}

function changeWords({
  files_changed: files,
  lines_added: added,
  lines_removed: removed,
}: RunReport["summary"]): string {
  if (files === null) return "unknown, what its edits changed is not kept"
  return `${plural(files, "file")}, +${added ?? "?"} −${removed ?? "?"}`
}

/** What a judgement of the run found, in one line. */
export function evaluationWords(one: ReportEvaluation): string {
  const who = [one.author, `${one.evaluator}${one.tool_version === null ? "" : ` ${one.tool_version}`}`].filter(Boolean)
  const rules = one.rules_hash === null ? "" : `, rules ${one.rules_hash.slice("sha256:".length, 19)}`
  const open = one.is_open ? ", while it went on" : ""
  return shortLine(`${one.verdict} by ${who.join(" with ")}, ${formatMoment(one.timestamp)}${rules}${open}`, 200)
}

/** An action that failed and broke no rule is no pass to a reader: a red test run has no check mark. */
export const hasFailed = ({ status, verdict }: Pick<TimelineEntry, "status" | "verdict">): boolean =>
  (status === "error" || status === "timeout") && (verdict === "pass" || verdict === "unknown")

/** Where the trail of the run has holes, in words. */
export function holesIn({ observability }: RunReport): { words: string; stepNo: number | null; detail: string }[] {
  return [
    ...observability.failures.map(({ failure, ...hole }) => ({ ...hole, words: FAILURE_WORDS[failure]! })),
    ...observability.bypasses.map(({ bypass, certainty, ...hole }) => ({
      ...hole,
      words: `${FAILURE_WORDS[bypass]!}${certainty === "possible" ? " (possible)" : ""}`,
    })),
  ]
}

const FAILURE_WORDS: Readonly<Record<string, string>> = {
  model_call_without_prompt: "model call without its prompt",
  action_without_correlation: "action without correlation ids",
  missing_capture_mode: "capture mode missing",
  missing_evaluation: "evaluation missing",
  unrecorded_transformation: "prompt changed, unrecorded",
  tool_call_without_result: "tool call without a result",
  assistant_turn: "assistant turn from elsewhere",
  tool_result: "tool result from elsewhere",
  swapped_result: "tool result of another call",
  workspace_change: "workspace changed without an action",
}

export const stepWord = (stepNo: number | null): string => (stepNo === null ? "run" : `#${stepNo}`)
