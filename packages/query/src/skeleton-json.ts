import { type SnakeJson, snakeJson } from "@orangebox/text"
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
export interface SkeletonJson {
  readonly run: RunJson
  readonly rows: readonly RowJson[]
  readonly shown: { readonly steps: number; readonly notes: number }
  readonly total: { readonly steps: number; readonly notes: number; readonly events: number; readonly lost: number }
  readonly gaps: SnakeJson<RunView["gaps"]>
  readonly next: readonly string[]
}

export type RowJson =
  | ({ readonly type: "step"; readonly depth: number; readonly folded: FoldJson | null } & StepJson)
  | {
      readonly type: "note"
      readonly depth: number
      readonly of: number
      readonly kind: string
      readonly weight: string
      readonly event_id: string | null
      /** In our words, with recorded text quoted and safe. */
      readonly text: string
    }
  | { readonly type: "fold"; readonly depth: number; readonly folded: FoldJson }

export type FoldJson = SnakeJson<Fold> & { readonly text: string }

export function skeletonJson(view: RunView, options: Omit<SkeletonOptions, "format" | "color"> = {}): SkeletonJson {
  const { plan } = fitSkeleton(view, options)
  const { steps, events, lost } = view.totals
  return {
    run: runJson(view),
    rows: plan.rows.map(rowJson),
    shown: { steps: plan.shownSteps, notes: plan.shownNotes },
    total: { steps, notes: plan.totalNotes, events, lost },
    gaps: snakeJson(view.gaps),
    next: nextCommands(view, plan, options.address),
  }
}

export type RunJson = ReturnType<typeof runJson>

/** A run without its steps. */
export function runJson(view: RunView) {
  const { steps: _steps, gaps: _gaps, crash, money, ...rest } = view
  const { pid, evidence, step } = crash ?? {}
  return {
    ...snakeJson(rest),
    money: moneyJson(money),
    crash: crash ? snakeJson({ pid, evidence, step }) : null,
  }
}

function moneyJson({ lanes, steps: _steps, ...sum }: RunMoney) {
  return { ...snakeJson(sum), lanes: Object.fromEntries([...lanes].map(([lane, money]) => [lane, snakeJson(money)])) }
}

export type StepJson = ReturnType<typeof stepSummaryJson>

/** A step without its events. */
export function stepSummaryJson(step: StepView) {
  const { n, kind, workKind, name, parent, status, durationUs, inferredBy, attemptNo, attempts } = step
  const mode = isMadeUp(step) ? "exact of simulated" : step.mode
  const { error, model, tool, partials, logs, bodyBytes } = step
  return {
    step_id: step.id ?? null,
    ...snakeJson({ n, kind, workKind, name, parent, status, durationUs, mode, inferredBy, attemptNo, attempts }),
    ...snakeJson({ error, model, tool, partials, logs, bodyBytes }),
    events: step.events.length,
    children: step.children.length,
  }
}

function rowJson(row: Row): RowJson {
  switch (row.type) {
    case "step":
      return {
        type: "step",
        depth: row.depth,
        folded: row.fold ? foldJson(row.fold) : null,
        ...stepSummaryJson(row.step),
      }
    case "note": {
      const words = noteWords(row.note, row.isShort)
      const text = [words.label, words.time, words.verdict].filter((part) => part !== "").join("  ")
      const { kind, weight, event } = row.note
      return { type: "note", depth: row.depth, of: row.of.n, kind, weight, event_id: event?.event_id ?? null, text }
    }
    case "fold":
      return { type: "fold", depth: row.depth, folded: foldJson(row.fold) }
  }
}

const foldJson = (fold: Fold): FoldJson => ({ ...snakeJson(fold), text: foldWords(fold) })
