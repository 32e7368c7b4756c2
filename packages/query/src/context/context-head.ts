import { besideWords, injectionWords, missingWords, type PromptAccount } from "@orangebox/dialects"
import {
  cutToWidth,
  formatBytes,
  formatCount,
  formatPercent,
  type Painter,
  plural,
  recordedWord,
  safeLine,
  stackedBar,
} from "@orangebox/text"
import type { StepView } from "../run-view.js"
import { sinceWord } from "./context-changes.js"
import type { PromptPrefix } from "./context-reading.js"
import type { ContextView } from "./context-view.js"

/** What is there however small the budget: whose context, how full, what became of it. */
export function headOf(view: ContextView, paint: Painter): string[] {
  const { context, prompt, changes, manifest, gaps } = view
  const parts = [
    `#${context.n} ${nameOf(context.step)}`,
    sizeWords(view),
    plural(view.items.length, "item"),
    leftOutWords(view),
  ]
  const isTold = manifest?.made_by === "application"
  const lines = [`${parts.join(" · ")} · ${isTold ? "from the application's manifest" : BASIS_WORDS[view.basis]}`]
  const budget = manifest?.token_budget
  if (budget && "tiers" in budget) lines.push(...budgetLines(budget, paint))
  else if (prompt.budget && prompt.tokens !== undefined) lines.push(windowLine(prompt.tokens, prompt.budget, paint))
  if (changes) lines.push(changeLine(changes))
  if (view.prefix) lines.push(prefixLine(view, view.prefix))
  if (view.account) lines.push(...sentLines(view.account, isTold ? "every item" : "the prompt", paint))
  for (const gap of gaps) lines.push(paint(`unknown  ${cutToWidth(safeLine(gap), 120)}`, "warn"))
  return lines
}

/** What became of the compiled prompt on its way, and what went with it. */
function sentLines(account: PromptAccount, what: string, paint: Painter): string[] {
  const missing = missingWords(account)
  const injected = injectionWords(account)
  const wrong = [
    ...(injected === undefined ? [] : [`context_injected: ${injected}`]),
    ...(missing === undefined ? [] : [`incomplete: ${missing}`]),
  ]
  if (wrong.length > 0) return wrong.map((words) => paint(`sent     ${words}`, "bad"))
  const beside = account.beside.length === 0 ? "" : `; ${besideWords(account.beside)}`
  const unsure = account.delivery === "unknown" ? "; what else the model reads is not known" : ""
  return [`sent     the request holds ${what} byte for byte${beside}${unsure}`]
}

/** Kind and name; how many tokens went in and out of the call is another question. */
function nameOf({ kind, name, inferredBy }: StepView): string {
  return `${inferredBy === undefined ? "" : "≈ "}${kind} ${name === undefined ? "?" : recordedWord(name, 40)}`
}

const BASIS_WORDS: Readonly<Record<ContextView["basis"], string>> = {
  manifest: "from its manifest",
  assembled: "as the application told it",
  request: "≈ from its request",
  unknown: "not known",
}

function sizeWords({ prompt }: ContextView): string {
  const { tokens, budget, countedBy } = prompt
  const mark = countedBy === "estimate" ? "≈" : ""
  if (!budget || tokens === undefined) return `${mark}${formatCount(tokens)} tokens`
  return `${mark}${formatCount(tokens)} of ${formatCount(budget)} tokens (${formatPercent(tokens, budget)})`
}

/** What was not recorded is not nothing. */
const leftOutWords = ({ excludedCount }: ContextView): string => `${formatCount(excludedCount)} left out`

const WINDOW = 40

type Budget = Extract<NonNullable<ContextView["manifest"]>["token_budget"], { tiers: unknown }>

/** The tiers as the compiler fills them, each with its sign in the bar. */
const TIERS = [
  ["tier0", "█"],
  ["tier1", "▓"],
  ["history", "▒"],
  ["telemetry", "░"],
] as const

function budgetLines({ ctx_max_tokens, headroom_tokens, tiers, counter }: Budget, paint: Painter): string[] {
  const share = (tokens: number): number => (ctx_max_tokens > 0 ? tokens / ctx_max_tokens : 0)
  const parts = TIERS.map(([tier, sign]) => ({ share: share(tiers[tier].used), sign }))
  const reserve = Math.min(WINDOW, Math.round(share(tiers.generation.reserved) * WINDOW))
  const bar = stackedBar(parts, WINDOW - reserve) + "▁".repeat(reserve)
  const free = `${formatCount(headroom_tokens)} free, ${formatCount(tiers.generation.reserved)} ▁ kept for the answer`
  const tierWords = TIERS.map(([tier, sign]) => {
    const { used, reserved, left } = tiers[tier]
    return `${sign} ${tier} ${formatCount(used)} of ${formatCount(reserved)} (${formatCount(left)} left)`
  })
  return [
    `budget   ${paint(bar, "number")}  ${free}`,
    `         ${tierWords.join(" · ")}`,
    `         counted by ${recordedWord(counter.id, 48)} ${recordedWord(counter.version, 24)}`,
  ]
}

function windowLine(tokens: number, budget: number, paint: Painter): string {
  const bar = stackedBar([{ share: tokens / budget, sign: "█" }], WINDOW)
  return `budget   ${paint(bar, "number")}  ${formatCount(Math.max(0, budget - tokens))} free`
}

/** `since #3  2 added, 1 changed, 14 the same · ≈ 12 messages gone by compaction`. */
function changeLine(changes: NonNullable<ContextView["changes"]>): string {
  const { added, removed, changed, same, historyLoss } = changes
  const counts = [
    ...(added.length > 0 ? [`${added.length} added`] : []),
    ...(removed.length > 0 ? [`${removed.length} gone`] : []),
    ...(changed.length > 0 ? [`${changed.length} changed`] : []),
    `${same} the same`,
  ]
  const certainty =
    historyLoss?.certainty === undefined ? "" : ` (${historyLoss.certainty === "certain" ? "certain" : "likely"})`
  const loss = historyLoss ? ` · ≈ ${plural(historyLoss.items, "message")} gone by ${historyLoss.why}${certainty}` : ""
  return `${`since ${sinceWord(changes)}`.padEnd(9)} ${counts.join(", ")}${loss}`
}

function prefixLine({ changes }: ContextView, { hash, byteSize }: PromptPrefix): string {
  const before = changes ? ` in ${sinceWord(changes)}` : ""
  const words = { same: `, the same as${before}`, changed: `, another than${before}`, unknown: "" }
  return `prefix   ${recordedWord(hash, 19)} ${formatBytes(byteSize)}${words[changes?.prefix ?? "unknown"]}`
}
