import { markedMode } from "./marked-mode.js"
import type { NoteView } from "./notes.js"
import type { RunView, StepView } from "./run-view.js"

/**
 * Which lines of a run are shown under a token budget, and what stands in for the rest.
 *
 * All lines are first laid out in the order in which a reader meets them: a step, then its children and notes by sequence. A stretch of
 * hidden lines between two shown ones is one fold, so whatever is left out is announced exactly where it is missing.
 */
export interface SkeletonPlan {
  readonly rows: readonly Row[]
  readonly shownSteps: number
  readonly shownNotes: number
  readonly totalNotes: number
}

export type Row =
  | {
      readonly type: "step"
      readonly step: StepView
      readonly depth: number
      readonly isShort: boolean
      /** Tries that are shown in the line of their call. */
      readonly attempts: readonly StepView[]
      fold?: Fold
    }
  | { readonly type: "note"; readonly note: NoteView; readonly of: StepView; readonly depth: number; isShort: boolean }
  | { readonly type: "fold"; readonly fold: Fold; readonly depth: number }

/** What a stretch of hidden lines holds. */
export interface Fold {
  /** The first hidden step: reading on from it unfolds the stretch. Where only notes are hidden, the step they belong to. */
  readonly at: number
  readonly steps: number
  readonly models: number
  readonly tools: number
  readonly failed: number
  readonly open: number
  readonly notes: number
  readonly warnings: number
  /** Steps that were deduced, not observed. */
  readonly inferred: number
  /** Steps whose mode has to be told, by mode. */
  readonly modes: { readonly [mode: string]: number }
}

export interface PlanLimits {
  /** Tokens for the rows alone; undefined shows everything. */
  readonly budget: number | undefined
  /** Read on from this step. */
  readonly at: number | undefined
  readonly costOf: (line: Line, isShort: boolean) => number
  readonly foldCost: number
}

/** One line that could be shown. */
export interface Line {
  readonly step: StepView
  /** Set for the line of a note; then `step` is the step it belongs to. */
  readonly note: NoteView | undefined
  readonly parent: number
  readonly depth: number
  /** Tries of this call that have no line of their own: a call and its attempts are one thing to a reader. */
  readonly attempts: StepView[]
  /** Index after the last line below this one. */
  end: number
}

export function planSkeleton(view: RunView, lines: readonly Line[], limits: PlanLimits): SkeletonPlan {
  const shown = choose(view, lines, limits)
  return { ...rowsOf(lines, shown), totalNotes: lines.filter(({ note }) => note !== undefined).length }
}

/**
 * Every line a run could show. Depth first and iterative: a run may nest deeper than the call stack. Unless they are unfolded, the attempts
 * of a call have no lines; what is noted in them stands below the call.
 */
export function linesOf(view: RunView, areAttemptsUnfolded: boolean, areLogsShown: boolean): Line[] {
  const lines: Line[] = []
  const root = view.steps[0]
  if (!root) return lines
  interface Visit {
    readonly step: StepView
    readonly index: number
    child: number
    note: number
  }
  const enter = (step: StepView, parent: number, depth: number): Visit => {
    if (isFolded(step)) {
      lines[parent]!.attempts.push(step)
      return { step, index: parent, child: 0, note: 0 }
    }
    lines.push({ step, note: undefined, parent, depth, attempts: [], end: 0 })
    return { step, index: lines.length - 1, child: 0, note: 0 }
  }
  const isFolded = (step: StepView): boolean => !areAttemptsUnfolded && step.attemptNo !== undefined
  const stack: Visit[] = [enter(root, -1, 0)]
  for (let visit = stack.at(-1); visit; visit = stack.at(-1)) {
    const { step, index } = visit
    const depth = lines[index]!.depth + 1
    const note = step.notes[visit.note]
    const child = view.steps[(step.children[visit.child] ?? 0) - 1]
    if (note && (!child || note.at <= child.at)) {
      visit.note += 1
      if (areLogsShown || !note.isQuiet)
        lines.push({ step, note, parent: index, depth, attempts: [], end: lines.length + 1 })
    } else if (child) {
      visit.child += 1
      stack.push(enter(child, index, depth))
    } else {
      lines[index]!.end = lines.length
      stack.pop()
    }
  }
  return lines
}

const HIDDEN = 0
const SHORT = 1
const FULL = 2
/** A line that would eat more than this share of the budget is shortened first, so that one long error cannot push out all others. */
const LARGEST_SHARE = 1 / 4
/** How many lines that do not fit are passed over before the rest is given up. */
const MISSES = 24

function choose(view: RunView, lines: readonly Line[], limits: PlanLimits): Uint8Array {
  const shown = new Uint8Array(lines.length).fill(FULL)
  const { budget, foldCost } = limits
  if (budget === undefined) return shown
  const largest = budget * LARGEST_SHARE

  const costs = new Int32Array(lines.length).fill(-1)
  const forms = new Uint8Array(lines.length)
  const costOf = (index: number): number => {
    if (costs[index]! >= 0) return costs[index]!
    const full = limits.costOf(lines[index]!, false)
    forms[index] = full > largest ? SHORT : FULL
    costs[index] = full > largest ? limits.costOf(lines[index]!, true) : full
    return costs[index]!
  }

  if (limits.at === undefined && fitsWhole(lines.length, budget, costOf)) return forms
  shown.fill(HIDDEN)

  let spent = 0
  let folds = 0
  /** What showing a line does to the number of folds around it. */
  const foldChange = (index: number): number => {
    const before = index > 0 && shown[index - 1] === HIDDEN ? 1 : 0
    const after = index + 1 < lines.length && shown[index + 1] === HIDDEN ? 1 : 0
    return before + after - 1
  }
  const show = (index: number): void => {
    folds += foldChange(index)
    spent += costOf(index)
    shown[index] = forms[index]!
  }
  const tryShow = (index: number): boolean => {
    if (shown[index] !== HIDDEN) return true
    // A line is shown with the steps it is in, so that the tree stays readable; only when the way up is too long, alone.
    const path: number[] = []
    let cost = 0
    for (let at = index; at >= 0 && shown[at] === HIDDEN; at = lines[at]!.parent) {
      cost += costOf(at)
      if (spent + cost + (folds + 2) * foldCost > budget) {
        if (path.length === 0) return false
        path.length = 1
        break
      }
      path.push(at)
    }
    for (const at of path.reverse()) show(at)
    return true
  }

  if (lines.length > 0) {
    folds = 1
    show(0)
  }
  let misses = 0
  // A reader who goes on from a step wants no holes in what follows.
  const most = limits.at === undefined ? MISSES : 0
  for (const index of inOrderOfWorth(view, lines, limits.at)) {
    if (!tryShow(index)) misses += 1
    if (misses > most) break
  }
  // A fold over a single line costs as much as the line.
  for (let index = 1; index < lines.length; index++) {
    const isAlone = shown[index] === HIDDEN && shown[index - 1] !== HIDDEN && (shown[index + 1] ?? FULL) !== HIDDEN
    if (isAlone && spent + costOf(index) + (folds - 1) * foldCost <= budget) show(index)
  }
  return shown
}

function fitsWhole(count: number, budget: number, costOf: (index: number) => number): boolean {
  let total = 0
  for (let index = 0; index < count && total <= budget; index++) total += costOf(index)
  return total <= budget
}

/**
 * What a reader needs first: what broke, what warned, what was asked of the model just before, how it ended; then the shape of the rest,
 * from the outside in.
 */
function* inOrderOfWorth(view: RunView, lines: readonly Line[], from: number | undefined): Generator<number> {
  if (from !== undefined) {
    const start = lines.findIndex((line) => line.step.n === from)
    if (start >= 0) for (let index = start; index < lines.length; index++) yield index
  }

  const failures: number[] = []
  const bad: number[] = []
  const warned: number[] = []
  const modelBefore: number[] = []
  const byDepth: number[][] = []
  let lastModel = -1
  lines.forEach((line, index) => {
    if (line.note) {
      if (line.note.weight === "bad") bad.push(index)
      else if (line.note.weight === "warn") warned.push(index)
    } else {
      if (isOrigin(line.step)) {
        failures.push(index)
        if (lastModel >= 0) modelBefore.push(lastModel)
      }
      if (line.step.kind === "model") lastModel = index
    }
    const level = byDepth[line.depth]
    if (level) level.push(index)
    else byDepth[line.depth] = [index]
  })

  const blamed = view.crash?.step ?? view.steps[0]?.error?.blames
  if (blamed !== undefined) yield lines.findIndex((line) => !line.note && line.step.n === blamed)
  yield* fromBothEnds(failures)
  yield* fromBothEnds(bad)
  yield* fromBothEnds(modelBefore)
  for (let index = lines.length - 1; index >= Math.max(0, lines.length - LAST_LINES); index--) yield index
  yield* fromBothEnds(warned)
  for (const level of byDepth) if (level) yield* fromBothEnds(level)
}

const LAST_LINES = 5

/** Where something went wrong, as against the steps around it that only passed it on or wait for it. */
function isOrigin(step: StepView): boolean {
  if (step.status === "success") return hasExitedBadly(step)
  if (step.status === "open" || step.status === "crashed") return step.isInnermostOpen
  return step.error?.sameAs === undefined
}

/** The tool did its work; the command that it ran did not. */
const hasExitedBadly = ({ tool }: StepView): boolean => (tool?.exitCode ?? 0) !== 0

/** The first failure is often the cause and the last one the end of it; what lies between is more of the same. */
function* fromBothEnds(indices: readonly number[]): Generator<number> {
  let first = 0
  let last = indices.length - 1
  while (first <= last) {
    yield indices[first++]!
    if (first <= last) yield indices[last--]!
  }
}

function rowsOf(lines: readonly Line[], shown: Uint8Array): { rows: Row[]; shownSteps: number; shownNotes: number } {
  const rows: Row[] = []
  const depths = new Int32Array(lines.length)
  let shownSteps = 0
  let shownNotes = 0
  /** Depth counts shown ancestors only, so that a fold in the way up costs no indentation. */
  const depthBelow = (index: number): number => {
    let parent = lines[index]!.parent
    while (parent >= 0 && shown[parent] === HIDDEN) parent = lines[parent]!.parent
    return parent < 0 ? 0 : depths[parent]! + 1
  }

  const foldDepth = (start: number, end: number): number => {
    let shallowest = start
    for (let index = start; index < end; index++) {
      if (lines[index]!.depth < lines[shallowest]!.depth) shallowest = index
    }
    return depthBelow(shallowest)
  }

  for (let index = 0; index < lines.length; ) {
    const line = lines[index]!
    if (shown[index] !== HIDDEN) {
      const depth = depthBelow(index)
      depths[index] = depth
      const isShort = shown[index] === SHORT
      if (line.note) {
        rows.push({ type: "note", note: line.note, of: line.step, depth, isShort })
        shownNotes += 1
      } else {
        const { attempts } = line
        const fold = attempts.length === 0 ? {} : { fold: foldOf(attempts.map(asLine)) }
        rows.push({ type: "step", step: line.step, depth, isShort, attempts, ...fold })
        shownSteps += 1
      }
      index += 1
      continue
    }
    const start = index
    while (index < lines.length && shown[index] === HIDDEN) index += 1
    const above = rows.at(-1)
    const end = lines[start - 1]!.end
    const isWhole = start > 1 && above?.type === "step" && end > start && end <= index
    const below = isWhole ? end : start
    // When everything below a step is hidden, its own line says so; what follows it is a fold of its own.
    if (isWhole) above.fold = foldOf([...above.attempts.map(asLine), ...lines.slice(start, below)])
    if (below < index) {
      rows.push({ type: "fold", fold: foldOf(lines.slice(below, index)), depth: foldDepth(below, index) })
    }
  }
  return { rows, shownSteps, shownNotes }
}

type Hidden = Pick<Line, "step" | "note" | "attempts">

const asLine = (step: StepView): Hidden => ({ step, note: undefined, attempts: [] })

function foldOf(lines: readonly Hidden[]): Fold {
  const hidden = lines.flatMap((line) => [line, ...line.attempts.map(asLine)])
  const counts = { steps: 0, models: 0, tools: 0, failed: 0, open: 0, notes: 0, warnings: 0, inferred: 0 }
  const modes: Record<string, number> = Object.create(null)
  for (const { step, note } of hidden) {
    if (note) {
      if (note.weight === "plain") counts.notes += 1
      else counts.warnings += 1
      continue
    }
    counts.steps += 1
    if (step.kind === "model") counts.models += 1
    if (step.kind === "tool") counts.tools += 1
    if (step.status === "open" || step.status === "crashed") counts.open += 1
    else if (step.status !== "success") counts.failed += 1
    else if (hasExitedBadly(step)) counts.warnings += 1
    if (step.inferredBy !== undefined) counts.inferred += 1
    const mode = markedMode(step)
    if (mode !== undefined) modes[mode] = (modes[mode] ?? 0) + 1
  }
  const first = hidden.find((line) => !line.note) ?? hidden[0]!
  return { at: first.step.n, ...counts, modes }
}
