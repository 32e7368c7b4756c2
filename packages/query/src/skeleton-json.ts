import { snakeJson } from "@orangebox/text"
import { foldWords } from "./format-fold.js"
import { noteWords } from "./format-note.js"
import { isMadeUp } from "./marked-mode.js"
import type { RunMoney } from "./money.js"
import type { RunView, StepView } from "./run-view.js"
import { fitSkeleton, nextCommands, type SkeletonOptions } from "./skeleton.js"
import type { Fold, Row } from "./skeleton-plan.js"

/**
 * The skeleton for programs: the same lines as the text under the same budget, which is measured on the text.
 * Recorded text is as recorded; print it with `safeJson`.
 */
export function skeletonJson(view: RunView, options: Omit<SkeletonOptions, "format" | "color"> = {}) {
  const { plan } = fitSkeleton(view, options)
  const { steps, events, lost } = view.totals
  return {
    run: runJson(view),
    rows: plan.rows.map(rowJson),
    shown: { steps: plan.shownSteps, notes: plan.shownNotes },
    total: { steps, notes: plan.totalNotes, events, lost },
    gaps: snakeJson(view.gaps),
    finding: options.finding ?? null,
    next: nextCommands(view, plan, options.address),
  }
}

/** A run without its steps. */
export const runJson = (view: RunView) => ({ ...runHeadJson(view), digest: view.digest ?? null })

/** The same for who does not ask for its digest, which is worked out from all of its events. */
export function runHeadJson(view: RunView) {
  const { crash, money } = view
  const { event: _event, ...ended } = crash ?? {}
  return {
    ...snakeJson(headOf(view)),
    digest: null,
    money: moneyJson(money),
    crash: crash ? snakeJson(ended) : null,
  }
}

type HeadOf = Omit<RunView, "steps" | "gaps" | "crash" | "money" | "digest">

/** Copied name by name: to take a view apart would work out its digest. */
function headOf(view: RunView): HeadOf {
  const left = ["steps", "gaps", "crash", "money", "digest"]
  const names = (Object.keys(view) as (keyof RunView)[]).filter((name) => !left.includes(name))
  return Object.fromEntries(names.map((name) => [name, view[name]])) as unknown as HeadOf
}

function moneyJson({ lanes, steps: _steps, ...sum }: RunMoney) {
  return { ...snakeJson(sum), lanes: Object.fromEntries([...lanes].map(([lane, money]) => [lane, snakeJson(money)])) }
}

/** A step without its events. */
export function stepSummaryJson(step: StepView) {
  const { n, kind, workKind, name, parent, status, durationUs, inferredBy, attemptNo, attempts } = step
  const mode = isMadeUp(step) ? "exact of simulated" : step.mode
  const { error, model, tool, queue, partials, logs, bodyBytes } = step
  return {
    step_id: step.id ?? null,
    ...snakeJson({ n, kind, workKind, name, parent, status, durationUs, mode, inferredBy, attemptNo, attempts }),
    ...snakeJson({ error, model, tool, queue, partials, logs, bodyBytes }),
    linked_from: step.linkedFrom.map(({ link, runId, no, name }) => snakeJson({ kind: link.kind, runId, no, name })),
    events: step.events.length,
    children: step.children.length,
  }
}

function rowJson(row: Row) {
  const { depth } = row
  switch (row.type) {
    case "step":
      return { type: row.type, depth, folded: row.fold ? foldJson(row.fold) : null, ...stepSummaryJson(row.step) }
    case "note": {
      const words = noteWords(row.note, row.isShort)
      // In our words, with recorded text quoted and safe.
      const text = [words.label, words.time, words.verdict].filter((part) => part !== "").join("  ")
      const { kind, weight, event } = row.note
      return { type: row.type, depth, of: row.of.n, kind, weight, event_id: event?.event_id ?? null, text }
    }
    case "fold":
      return { type: row.type, depth, folded: foldJson(row.fold) }
  }
}

const foldJson = (fold: Fold) => ({ ...snakeJson(fold), text: foldWords(fold) })
