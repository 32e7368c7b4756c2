import { displayWidth, estimateTokens, safeJson } from "@orangebox/text"
import fc from "fast-check"
import { expect, test } from "vitest"
import { hostileText, ONLY_SAFE } from "../../text/test/hostile-text.js"
import {
  conversationText,
  MIN_SKELETON_BUDGET,
  MIN_STEP_BUDGET,
  type RunView,
  skeletonJson,
  skeletonText,
  stepJson,
  stepText,
  viewRun,
} from "../src/index.js"
import { anyRun } from "./any-run.js"

const RUNS = { numRuns: 300 }
const budgets = fc.integer({ min: MIN_SKELETON_BUDGET, max: 3000 })
const start = fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined })

const within = (view: RunView, at: number | undefined): { at?: number } =>
  at === undefined ? {} : { at: 1 + (at % view.steps.length) }

test("[Q-01] a skeleton never costs more than its budget, whatever the run", () => {
  fc.assert(
    fc.property(anyRun, budgets, start, fc.constantFrom("text", "markdown"), (run, budget, at, format) => {
      const view = viewRun(run)
      const options = { budget, format, ...within(view, at) } as const
      expect(estimateTokens(skeletonText(view, options))).toBeLessThanOrEqual(budget)
    }),
    RUNS,
  )
})

test("[Q-01] a skeleton keeps to its budget with another token counter", () => {
  const countTokens = (text: string): number => Math.ceil(text.length / 3)
  fc.assert(
    fc.property(anyRun, budgets, (run, budget) => {
      const text = skeletonText(viewRun(run), { budget: budget * 2, countTokens })
      expect(countTokens(text)).toBeLessThanOrEqual(budget * 2)
    }),
    RUNS,
  )
})

test("[Q-10] no line of a skeleton is wider than the terminal, but for a word that cannot be broken", () => {
  fc.assert(
    fc.property(anyRun, fc.integer({ min: 60, max: 200 }), (run, width) => {
      for (const line of skeletonText(viewRun(run), { width, all: true }).split("\n")) {
        const longestWord = Math.max(...line.split(" ").map(displayWidth))
        const guides = /^[#\d \u2500-\u257f+]*/.exec(line)![0].length
        expect(displayWidth(line)).toBeLessThanOrEqual(Math.max(width, guides + 2 + longestWord))
      }
    }),
    RUNS,
  )
})

test("[Q-10] a terminal changes how a skeleton is laid out, not which steps it shows", () => {
  fc.assert(
    fc.property(anyRun, fc.integer({ min: 60, max: 200 }), (run, width) => {
      const numbers = (text: string): (string | undefined)[] => [...text.matchAll(/^#\d+/gm)].map(([number]) => number)
      const view = viewRun(run)
      expect(numbers(skeletonText(view, { width, all: true }))).toEqual(numbers(skeletonText(view, { all: true })))
    }),
    RUNS,
  )
})

test("[Q-01] every step, failure and note is either shown or counted in a fold", () => {
  fc.assert(
    fc.property(anyRun, budgets, start, (run, budget, at) => {
      const view = viewRun(run)
      const { rows, shown, total } = skeletonJson(view, { budget, ...within(view, at) })
      const folds = rows.flatMap((row) => (row.type === "note" || row.folded === null ? [] : [row.folded]))
      const sum = (pick: (fold: (typeof folds)[number]) => number): number =>
        folds.reduce((total, fold) => total + pick(fold), 0)
      const isFailed = (status: string): boolean => status === "error" || status === "timeout" || status === "partial"
      const isOpen = (status: string): boolean => status === "open" || status === "crashed"
      const steps = rows.flatMap((row) => (row.type === "step" ? [row] : []))

      expect(shown.steps + sum((fold) => fold.steps)).toBe(total.steps)
      expect(shown.notes + sum((fold) => fold.notes + fold.warnings)).toBe(total.notes)
      expect(steps.filter((row) => isFailed(row.status)).length + sum((fold) => fold.failed)).toBe(
        view.steps.filter((step) => isFailed(step.status)).length,
      )
      expect(steps.filter((row) => isOpen(row.status)).length + sum((fold) => fold.open)).toBe(
        view.steps.filter((step) => isOpen(step.status)).length,
      )
    }),
    RUNS,
  )
})

test("[Q-01] folding never renumbers: a line's number is the number of its step in the whole run", () => {
  fc.assert(
    fc.property(anyRun, budgets, (run, budget) => {
      const view = viewRun(run)
      const text = skeletonText(view, { budget })
      const json = skeletonJson(view, { budget })
      const numbers = json.rows.flatMap((row) => (row.type === "step" ? [row.n] : []))
      for (const row of json.rows) if (row.type === "step") expect(view.steps[row.n - 1]!.id).toBe(row.step_id)
      // Recorded text cannot begin a line, so every line that begins with a number is one of ours.
      expect([...text.matchAll(/^#(\d+) /gm)].map(([, n]) => Number(n))).toEqual(numbers)
    }),
    RUNS,
  )
})

test("[Q-01] reading on from fold to fold passes every step of any run", () => {
  fc.assert(
    fc.property(anyRun, fc.integer({ min: 600, max: 1200 }), (run, budget) => {
      const view = viewRun(run)
      const seen = new Set<number>()
      for (let at: number | undefined = 1; at !== undefined; ) {
        const { rows } = skeletonJson(view, { budget, at })
        const before = seen.size
        for (const row of rows) if (row.type === "step") seen.add(row.n)
        const folds = rows.flatMap((row) => (row.type === "note" || row.folded === null ? [] : [row.folded]))
        at = folds.find((fold) => fold.steps > 0 && !seen.has(fold.at))?.at
        if (at !== undefined) expect(seen.size).toBeGreaterThan(before)
      }
      expect(seen.size).toBe(view.steps.length)
    }),
    RUNS,
  )
})

test("[Q-01] a run that goes on keeps the numbers it had", () => {
  fc.assert(
    fc.property(anyRun, fc.nat(), ({ events }, cut) => {
      const before = viewRun({ events: events.slice(0, 1 + (cut % events.length)) }).steps.map((step) => step.id)
      const after = viewRun({ events }).steps.map((step) => step.id)
      expect(after.slice(0, before.length)).toEqual(before)
    }),
    RUNS,
  )
})

test("[Q-03] nothing recorded reaches a terminal raw: skeleton, step and conversation print only safe characters", () => {
  fc.assert(
    fc.property(anyRun, fc.nat(), (run, n) => {
      const view = viewRun(run)
      expect(skeletonText(view, { all: true })).toMatch(ONLY_SAFE)
      expect(conversationText([view, view], { budget: 900 })).toMatch(ONLY_SAFE)
      const number = 1 + (n % view.steps.length)
      expect(stepText(view, number)).toMatch(ONLY_SAFE)
      expect(safeJson(stepJson(view, number))).toMatch(ONLY_SAFE)
      expect(safeJson(skeletonJson(view), 2)).toMatch(ONLY_SAFE)
    }),
    RUNS,
  )
})

test("[Q-02] the pages of a step keep to their budget and together hold every row once", () => {
  fc.assert(
    fc.property(anyRun, fc.nat(), fc.integer({ min: MIN_STEP_BUDGET, max: 900 }), (run, n, budget) => {
      const view = viewRun(run)
      const number = 1 + (n % view.steps.length)
      const whole = stepJson(view, number, { budget: 1_000_000 })
      expect(whole.next_cursor).toBeNull()
      const rows: unknown[] = []
      for (let cursor: number | null = 0; cursor !== null; ) {
        expect(estimateTokens(stepText(view, number, { budget, cursor }))).toBeLessThanOrEqual(budget)
        const page = stepJson(view, number, { budget, cursor })
        rows.push(...page.rows)
        cursor = page.next_cursor
      }
      expect(rows).toEqual(whole.rows)
    }),
    { numRuns: 60 },
  )
})

test("[Q-01] a conversation keeps to its budget", () => {
  fc.assert(
    fc.property(fc.array(anyRun, { maxLength: 8 }), budgets, (runs, budget) => {
      expect(estimateTokens(conversationText(runs.map(viewRun), { budget }))).toBeLessThanOrEqual(budget)
    }),
    { numRuns: 60 },
  )
})

const BREAKABLE = [
  "payload",
  "artifact_refs",
  "attributes",
  "links",
  "source",
  "mono_us",
  "timestamp_utc",
  "determinism_mode",
  "inferred_by",
  "lane_id",
  "attempt_no",
  "replay",
  "problems",
  "redaction_status",
  "conversation_id",
  "event_id",
  "run_id",
  "trace_id",
] as const

test("[Q-01] events of any shape are read without throwing, within the budget, and printed safely", () => {
  const junk = fc.oneof(fc.anything({ withNullPrototype: true }), hostileText)
  const breakage = fc.array(fc.tuple(fc.constantFrom(...BREAKABLE), junk), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(anyRun, breakage, (run, broken) => {
      const events = run.events.map((event, index) => {
        const [field, value] = broken[index % broken.length]!
        return Object.assign({ ...event }, { [field]: value })
      })
      const view = viewRun({ ...run, events })
      const text = skeletonText(view)
      expect(estimateTokens(text)).toBeLessThanOrEqual(2000)
      expect(text).toMatch(ONLY_SAFE)
      for (const step of view.steps.slice(0, 5)) expect(stepText(view, step.n)).toMatch(ONLY_SAFE)
    }),
    RUNS,
  )
})
