import { advice, OrangeboxError, suggested } from "@orangebox/contract"
import { formatCount, formatDuration, formatPercent, plural, recordedWord } from "@orangebox/text"
import { moneyWords } from "./money.js"
import type { RunView, StepView } from "./run-view.js"

/** One line about the run as a whole: the header of its skeleton, its line in a conversation. */
export function headerOf(view: RunView): string {
  const { totals } = view
  const parts = [view.runId === undefined ? "run" : recordedWord(view.runId, 40)]
  const names = [view.app, view.entrypoint].filter((name) => name !== undefined).map((name) => recordedWord(name, 40))
  if (names.length > 0) parts.push(names.join(" · "))
  parts.push(statusWords(view))
  if (totals.modelCalls > 0) parts.push(plural(totals.modelCalls, "model call"))
  if (totals.toolCalls > 0) parts.push(plural(totals.toolCalls, "tool call"))
  const tokens = tokenWords(view)
  if (tokens !== "") parts.push(tokens)
  const money = moneyWords(view.money)
  if (money !== "") parts.push(money)
  if (totals.errors > 0) parts.push(plural(totals.errors, "error"))
  if (totals.failedAttempts > 0) parts.push(plural(totals.failedAttempts, "failed attempt"))
  const lost = lostWords(view)
  if (lost !== undefined) parts.push(lost)
  const replay = view.replay
  if (replay) {
    parts.push(
      `${replay.isFork ? "fork" : "replay"} of ${recordedWord(replay.sourceRunId, 40)} (${recordedWord(replay.reason, 16)})`,
    )
  }
  const modes = Object.entries(totals.modes).filter(([mode, count]) => mode !== "live" && count > 0)
  if (modes.length > 0) {
    parts.push(
      `not live: ${modes.map(([mode, count]) => `${count} ${mode}`).join(", ")} of ${plural(totals.events, "event")}`,
    )
  }
  return parts.join(" · ")
}

/** What is not there of a run, in the words of every view; undefined where nothing is missing that is known of. */
export function lostWords({ totals, gaps }: RunView, count = plural(totals.lost, "event")): string | undefined {
  const words = [
    ...(totals.lost === 0 ? [] : [`${count} lost`]),
    ...(gaps.some(({ mayBeEnd }) => mayBeEnd) ? ["its end may be lost"] : []),
  ]
  return words.length === 0 ? undefined : words.join(", ")
}

/** What the run's own writer recorded, and what others said about it since. */
export const eventWords = (events: number, annotations: number): string =>
  `${plural(events, "event")}${annotations > 0 ? ` (+${annotations} said later)` : ""}`

function statusWords(view: RunView): string {
  if (view.totals.events === 0) return "nothing recorded"
  const time = formatDuration(view.durationUs)
  switch (view.status) {
    case "completed":
      return `completed ${time}`
    case "failed":
      return `FAILED ${time}`
    case "crashed":
      return `CRASHED after ${time}`
    case "running":
      return `running, last heard after ${time}`
    case "silent":
      return `SILENT after ${time} (no end recorded)`
  }
}

function tokenWords(view: RunView): string {
  const { tokens, modelCalls } = view.totals
  if (modelCalls === 0) return ""
  if (tokens.callsWithoutUsage === modelCalls) return "tokens unknown"
  const cached =
    tokens.cacheRead !== null && tokens.cacheReadOf
      ? ` (${formatPercent(tokens.cacheRead, tokens.cacheReadOf)} cached)`
      : ""
  const unknown = tokens.callsWithoutUsage > 0 ? ` + ${plural(tokens.callsWithoutUsage, "call")} unknown` : ""
  return `${formatCount(tokens.input)} in${cached} → ${formatCount(tokens.output)} out${unknown}`
}

/** How commands name this run when the reader did not: by its id, which is recorded text like any other. */
export function runAddress(view: RunView): string {
  return view.runId === undefined ? "last" : recordedWord(view.runId, 40)
}

/** Where a reader would look first: where it crashed, what the run blames, the last thing that broke, or else how it ended. */
export function stepToLookAt(view: RunView): StepView | undefined {
  const named = view.crash?.step ?? view.steps[0]?.error?.blames
  if (named !== undefined) return view.steps[named - 1]
  const broken = view.steps.findLast(
    (step) => step.n > 1 && isBroken(step) && step.attemptNo === undefined && !isTold(view, step),
  )
  return broken ?? view.steps.findLast((step) => step.attemptNo === undefined)
}

/** Its error is told of another step, and not only of its own attempt. */
const isTold = ({ steps }: RunView, { error, n }: StepView): boolean =>
  error?.sameAs !== undefined &&
  !(steps[error.sameAs - 1]?.attemptNo !== undefined && steps[error.sameAs - 1]?.parent === n)

const isBroken = (step: StepView): boolean => step.status === "error" || step.status === "timeout"

/** The step a reader asked for by number. */
export function stepAt(view: RunView, n: number): StepView {
  const step = view.steps[n - 1]
  if (step) return step
  throw new OrangeboxError("STEP_NUMBER", {
    what: `there is no step #${n}, this run has ${view.steps.length}`,
    where: runAddress(view),
    next: advice`See the numbers with: ${suggested("show", runAddress(view))}`,
  })
}
