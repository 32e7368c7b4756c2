import { crashWords } from "@orangebox/runs"
import {
  cutToTokens,
  cutToWidth,
  displayWidth,
  drawTree,
  estimateTokens,
  fitLines,
  type Painter,
  type PaintRole,
  padToWidth,
  plain,
  plural,
  recordedWord,
  wrapText,
} from "@orangebox/text"
import { foldWords } from "./format-fold.js"
import { noteWords } from "./format-note.js"
import { eventWords, headerOf, lostWords, runAddress, stepAt, stepToLookAt } from "./format-run.js"
import { errorWords, type LineWords, stepWords } from "./format-skeleton.js"
import { inFormat, roomOf, type ViewOptions } from "./page.js"
import type { RunView } from "./run-view.js"
import { type Fold, type Line, linesOf, planSkeleton, type Row, type SkeletonPlan } from "./skeleton-plan.js"

/** The budget is at least `MIN_SKELETON_BUDGET`, and 2,000 tokens where none is said. */
export interface SkeletonOptions extends ViewOptions {
  /** Read on from this step: it, what is below it and what follows come first. */
  readonly at?: number
  /** Every line, whatever it costs. */
  readonly all?: boolean
  /** Debug and info logs as well. */
  readonly logs?: boolean
  /** Columns of the reader's terminal: no line is wider, but for words that cannot be broken. Default: nothing limits a line. */
  readonly width?: number
  /** How the reader addressed the run, for the commands in the footer. Default: its id. */
  readonly address?: string
  /** What is broken most in it, and how to read on: a line of ours, where it was diagnosed. */
  readonly finding?: string
}

const USUAL_BUDGET = 2000
/** Below this, not even the frame fits: what run, how it ended, what is folded, how to read on. */
export const MIN_SKELETON_BUDGET = 320

/**
 * A run in one line per step: the first thing to read about it.
 *
 * Every line stands for a record, and `#n` is the step's number for ever. Recorded text is a bare word or in double quotes; everything else
 * is ours. What does not fit the budget is folded, counted, and says how to unfold it.
 */
export function skeletonText(view: RunView, options: SkeletonOptions = {}): string {
  const { plan, frame } = fitSkeleton(view, options)
  return inFormat(layOutText(plan, frame, options), options)
}

/** The lines of a run's tree alone, for where its header is already said. */
export function skeletonRows(
  view: RunView,
  options: Pick<SkeletonOptions, "budget" | "countTokens" | "color" | "width">,
): string {
  const { plan, frame } = fitSkeleton(view, options)
  const isWhole = toldSteps(plan) === view.totals.steps && plan.shownNotes === plan.totalNotes && view.totals.lost === 0
  const footer = isWhole ? [] : [countsOf(view, plan, true)]
  return layOutText(plan, { ...frame, header: undefined, footer }, options)
}

/** Header, crash line and footer: what is there however small the budget. */
interface Frame {
  readonly header: string | undefined
  readonly footer: readonly string[]
  readonly crash: string | undefined
  readonly address: string
  /** Set when the budget holds little more than this frame: rows are then cut like the frame's own lines. */
  readonly rowLimit: ((line: string) => string) | undefined
}

export interface FittedSkeleton {
  readonly plan: SkeletonPlan
  readonly frame: Frame
}

/** The lines that fit. Lines are priced one by one and folds by estimate, so the whole is measured and planned again where that pays. */
export function fitSkeleton(view: RunView, options: SkeletonOptions): FittedSkeleton {
  if (options.at !== undefined) stepAt(view, options.at)
  const { budget, count } = roomOf(options, USUAL_BUDGET, MIN_SKELETON_BUDGET)
  const isAttemptAsked = options.at !== undefined && view.steps[options.at - 1]?.attemptNo !== undefined
  const lines = linesOf(view, options.all === true || isAttemptAsked, options.logs === true)
  const plan = (rowBudget: number | undefined): SkeletonPlan =>
    planSkeleton(view, lines, {
      budget: rowBudget,
      at: options.all ? undefined : options.at,
      costOf: (line, isShort) => count(pricedLine(line, isShort)) + 1,
      foldCost: count(TYPICAL_FOLD) + 1,
    })
  const fit = (whole: SkeletonPlan, tight?: number): FittedSkeleton => ({
    plan: whole,
    frame: frameOf(view, whole, options, tight),
  })
  if (options.all) return fit(plan(undefined))

  const { color: _, ...withoutColour } = options
  const tokensOf = (fitted: FittedSkeleton): number => count(layOutText(fitted.plan, fitted.frame, withoutColour))
  const frameCost = tokensOf(fit({ rows: [], shownSteps: 0, shownNotes: 0, totalNotes: 0 }))
  let rowBudget = budget - frameCost
  let best: FittedSkeleton | undefined
  for (let round = 0; round < MOST_ROUNDS && rowBudget > 0; round++) {
    const fitted = fit(plan(rowBudget))
    const tokens = tokensOf(fitted)
    if (tokens <= budget) {
      best = fitted
      const isWhole = fitted.plan.shownSteps + fitted.plan.shownNotes === lines.length
      if (isWhole || tokens >= budget * WELL_USED || round >= ROUNDS_UP) break
      rowBudget = Math.floor((rowBudget * budget) / tokens)
    } else {
      if (best) break
      rowBudget = Math.floor(Math.min(rowBudget * 0.85, rowBudget - (tokens - budget)))
    }
  }
  return best ?? fit(plan(0), budget)
}

const MOST_ROUNDS = 12
/** Prices lean high, so a first plan leaves room. It is used in a second or third one, unless most of it is used already. */
const ROUNDS_UP = 2
const WELL_USED = 0.9
const TYPICAL_FOLD = "#1000 │ … 1000 steps (500 model, 500 tool), all ok  (unfold: --at 1000)"

/** Labels are padded to the widest one shown, up to here; a longer label pushes its own time to the right. */
const LABEL_COLUMN = 64
/** With the space before it. What takes no time may be so much wider. */
const TIME_COLUMN = 8

function pricedLine(line: Line, isShort: boolean): string {
  const words = line.note ? noteWords(line.note, isShort) : stepWords(line.step, isShort)
  const indent = "│ ".repeat(Math.min(line.depth, 6))
  return `#1000 ${indent}${padToWidth(words.label, LABEL_COLUMN)} ${words.time}  ${words.verdict}`
}

interface TextRow {
  readonly number: string
  readonly tree: string
  /** The guides in front of what else is said of the row, below it. */
  readonly below: string
  readonly words: LineWords
  readonly hint: string
}

function layOutText(plan: SkeletonPlan, frame: Frame, options: Pick<SkeletonOptions, "color" | "width">): string {
  const paint = options.color ?? plain
  const width = options.width ?? Number.POSITIVE_INFINITY
  const trees = drawTree(plan.rows)
  const drawn = plan.rows.map((row, index): Omit<TextRow, "words" | "hint"> => {
    const isParent = (plan.rows[index + 1]?.depth ?? 0) > row.depth
    const number = row.type === "step" ? `#${row.step.n}` : ""
    return { number, tree: trees[index]!, below: belowOf(trees[index]!, isParent) }
  })
  const numbers = drawn.reduce((widest, { number }) => Math.max(widest, number.length), 0)
  const column = options.width === undefined ? Number.POSITIVE_INFINITY : labelColumn(width - numbers - 1)
  const rows = plan.rows.map((row, index): TextRow => {
    const { number, tree, below } = drawn[index]!
    return { number, tree, below, ...fittedRow(row, frame.address, column - displayWidth(tree)) }
  })
  const labels = rows.reduce((widest, { tree, words }) => {
    const label = displayWidth(tree) + displayWidth(words.label) - spareOf(words)
    return label <= Math.min(column, LABEL_COLUMN) ? Math.max(widest, label) : widest
  }, 0)

  const lines = frame.header === undefined ? [] : wrapped(frame.header, width).map((line) => paint(line, "heading"))
  for (const row of rows) {
    if (frame.rowLimit) {
      const { number, tree, words, hint } = row
      lines.push(
        frame.rowLimit([number, tree + words.label, words.time, words.verdict, hint].filter(Boolean).join(" ")),
      )
    } else lines.push(...rowLines(row, { numbers, labels, width }, paint))
  }
  if (frame.crash !== undefined) {
    for (const line of wrapText(frame.crash, width, { at: " ", indent: "  " })) lines.push(paint(line, "bad"))
  }
  for (const line of frame.footer) for (const part of wrapped(line, width)) lines.push(paint(part, "dim"))
  return lines.join("\n")
}

const wrapped = (line: string, width: number): string[] => fitLines(line, width).split("\n")

/** A verdict needs so much of a line to say anything. */
const LEAST_VERDICT = 20

/** How wide labels may be where a row has so many columns. */
function labelColumn(room: number): number {
  return Math.max(16, Math.min(LABEL_COLUMN, room - TIME_COLUMN - 2 - LEAST_VERDICT))
}

function rowLines(
  { number, tree, below, words, hint }: TextRow,
  { numbers, labels, width }: { readonly numbers: number; readonly labels: number; readonly width: number },
  paint: Painter,
): string[] {
  const lead = `${" ".repeat(numbers)} ${paint(below, "tree")}`
  const wrapBelow = (said: string, role: PaintRole): string[] =>
    wrapText(said, width - numbers - 1 - displayWidth(below), { at: " ", indent: "  " }).map(
      (line) => lead + paint(line, role),
    )
  const hasMore = words.time !== "" || words.verdict !== "" || hint !== ""
  const labelWidth = labels - displayWidth(tree) + spareOf(words)
  const label = hasMore ? padToWidth(words.label, labelWidth) : words.label
  const tone = words.tone === "plain" ? undefined : words.tone
  if (tone && !hasMore && displayWidth(words.label) > width - numbers - 1 - displayWidth(tree)) {
    const [first, ...rest] = wrapText(words.label, width - numbers - 1 - displayWidth(below), { at: " ", indent: "" })
    const head = `${paint(padToWidth(number, numbers), "number")} ${paint(tree, "tree")}${paint(first!, tone)}`
    return [head, ...rest.map((line) => lead + paint(line, tone))]
  }
  // A label over its column has left the grid, so the rest follows without padding.
  const isOver = displayWidth(words.label) > labelWidth
  const time = words.time === "" ? "" : isOver ? ` ${words.time}` : words.time.padStart(TIME_COLUMN)
  const used = numbers + 1 + displayWidth(tree) + displayWidth(label) + displayWidth(time)
  const room = width - used - 2
  // What went wrong is never cut: where it does not fit beside its step it stands below it.
  const isBelow = words.verdict !== "" && displayWidth(words.verdict) > room && tone !== undefined
  const verdict = isBelow ? "" : cutToWidth(words.verdict, room)

  let text = `${paint(padToWidth(number, numbers), "number")} ${paint(tree, "tree")}`
  text += tone && !words.verdict ? paint(label, tone) : label
  if (time !== "") text += paint(time, "time")
  if (verdict !== "") text += `  ${tone ? paint(verdict, tone) : verdict}`
  const isHintBelow = hint !== "" && displayWidth(hint) > room - displayWidth(verdict)
  if (hint !== "" && !isHintBelow) text += `  ${paint(hint, "dim")}`
  return [
    text.trimEnd(),
    ...(isBelow ? wrapBelow(words.verdict, tone!) : []),
    ...(isHintBelow ? wrapBelow(hint, "dim") : []),
  ]
}

/** A label that is followed by no time reaches to what else is said. */
const spareOf = ({ time, verdict }: LineWords): number => (time === "" && verdict !== "" ? TIME_COLUMN : 0)

/** The guides of a row, gone on with in the line below it. */
function belowOf(tree: string, isParent: boolean): string {
  return `${tree.replace("├", "│").replace("└", " ").replace(/\+\d+/, "")}${isParent ? "│ " : "  "}`
}

/** The words of a row in a column of so many: the short ones where the full ones are too wide. */
function fittedRow(row: Row, address: string, room: number): Pick<TextRow, "words" | "hint"> {
  const fitted = wordsOf(row, address, room)
  const { label, time, verdict, tone } = fitted.words
  // A line that is all label and tells of trouble is broken, not cut.
  const isBroken = tone !== "plain" && time === "" && verdict === ""
  const most = room + (time === "" ? TIME_COLUMN : 0)
  return isBroken ? fitted : { ...fitted, words: { ...fitted.words, label: cutToWidth(label, most) } }
}

function wordsOf(row: Row, address: string, room: number): Pick<TextRow, "words" | "hint"> {
  switch (row.type) {
    case "step": {
      const words = withAttempts(stepWords(row.step, row.isShort, room), row)
      if (!row.fold || row.fold.steps + row.fold.notes + row.fold.warnings === row.attempts.length)
        return { words, hint: "" }
      return {
        words: { ...words, label: `${words.label} … ${foldWords(row.fold)}` },
        hint: unfold(row.fold, row.step.n, address),
      }
    }
    case "note": {
      const words = noteWords(row.note, row.isShort, room + TIME_COLUMN)
      return { words: words.time === "" ? words : noteWords(row.note, row.isShort, room), hint: "" }
    }
    case "fold":
      return {
        words: { label: `… ${foldWords(row.fold)}`, time: "", verdict: "", tone: "plain" },
        hint: unfold(row.fold, row.fold.at, address),
      }
  }
}

/** What became of the attempts, in the line of their call. */
function withAttempts(words: LineWords, { step, attempts }: Row & { type: "step" }): LineWords {
  const failed = attempts.filter(({ error }) => error !== undefined)
  const first = failed[0]?.error
  if (first === undefined) return words
  const why = errorWords({ ...first, sameAs: undefined }, ATTEMPT_ERROR)
  // A call that failed with the error of an attempt points at it, and has the attempt's words here.
  if (attempts.some(({ n }) => n === step.error?.sameAs))
    return { ...words, verdict: step.status === "partial" ? `${words.verdict} · ${why}` : `✗ ${why}` }
  const how = failed.every(({ status }) => status === "partial") ? "broke off" : "failed"
  const told = `${failed.length} of ${attempts.length} attempts ${how}: ${why}`
  return { ...words, verdict: words.verdict === "" ? told : `${words.verdict} · ${told}` }
}

const ATTEMPT_ERROR = 60

/** Steps are unfolded by reading on from the first of them; notes are rows of the step they belong to. */
function unfold(fold: Fold, at: number, address: string): string {
  return fold.steps > 0 ? `(unfold: --at ${at})` : `(unfold: orangebox step ${address}#${at})`
}

function frameOf(view: RunView, plan: SkeletonPlan, options: SkeletonOptions, tight: number | undefined): Frame {
  const count = options.countTokens ?? estimateTokens
  const cut = (line: string, share: number): string =>
    tight === undefined ? line : cutToTokens(line, Math.floor(tight * share), count)
  const next = nextCommands(view, plan, options.address)
  return {
    address: options.address ?? runAddress(view),
    header: cut(headerOf(view), 0.2),
    crash: view.crash ? cut(`✗ ${crashWords(view.crash)}`, 0.15) : undefined,
    footer: [
      ...(options.finding === undefined ? [] : [cut(`✗ ${options.finding}`, 0.15)]),
      cut(`${countsOf(view, plan, options.logs === true)} · next: ${next.join(" · ")}`, 0.2),
      ...marksOf(view),
      ...(view.digest === undefined ? [] : [cut(`digest ${recordedWord(view.digest, 80)}`, 0.12)]),
    ],
    rowLimit: tight === undefined ? undefined : (line) => cutToTokens(line, Math.floor(tight * 0.14), count),
  }
}

/** Steps with a line, and attempts that are shown in the line of their call. */
const toldSteps = ({ rows, shownSteps }: SkeletonPlan): number =>
  rows.reduce((sum, row) => sum + (row.type === "step" ? row.attempts.length : 0), shownSteps)

function countsOf(view: RunView, plan: SkeletonPlan, areLogsShown: boolean): string {
  const { totals } = view
  const steps =
    toldSteps(plan) === totals.steps
      ? plural(totals.steps, "step")
      : `${toldSteps(plan)} of ${totals.steps} steps shown`
  const folded = toldSteps(plan) - plan.shownSteps
  const attempts =
    folded === 0
      ? ""
      : ` (${plural(folded, "attempt")} told with ${folded === 1 ? "its call" : "their calls"}, --all unfolds)`
  const notes = plan.shownNotes === plan.totalNotes ? "" : `, ${plan.shownNotes} of ${plan.totalNotes} notes shown`
  const quiet = view.steps.reduce((sum, { logs }) => sum + logs.debug + logs.info, 0)
  const logs = areLogsShown || quiet === 0 ? "" : `, ${plural(quiet, "log")} (--logs shows them)`
  return `${eventWords(totals.events, totals.annotations)}, ${steps}${attempts}${notes}${logs}, ${lostWords(view, String(totals.lost)) ?? "0 lost"}`
}

function marksOf(view: RunView): string[] {
  return view.steps.some((step) => step.inferredBy !== undefined) ? ["≈ inferred, not observed"] : []
}

/** What to ask next, as commands that can be pasted. */
export function nextCommands(view: RunView, plan: SkeletonPlan, addressed: string | undefined): string[] {
  const address = addressed ?? runAddress(view)
  const step = stepToLookAt(view)
  if (!step) return ["orangebox runs"]
  const commands = [`orangebox step ${address}#${step.n}`]
  if (toldSteps(plan) < view.totals.steps) commands.push(`orangebox show ${address} --all`)
  return commands
}
