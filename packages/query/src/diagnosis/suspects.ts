import { groupBy } from "../group-by.js"
import { type CaseFile, isBadEnd, isBadOutcome, modelCallsOf, toolCallsOf } from "./case-file.js"
import type { RankedFinding } from "./diagnose.js"
import { backwardSlice, failurePoint } from "./rank.js"

/** A step to read first when the outcome is bad and no finding explains it. It accuses no step: it is a place in a reading order. */
export interface Suspect {
  readonly n: number
  /** In our words alone. */
  readonly why: readonly string[]
}

/** A step as far as a reading order goes. */
export interface ReadStep {
  readonly n: number
  /** It ran something or changed something, or asked for that; it did not only plan or talk. */
  readonly acts: boolean
  readonly hasFailed: boolean
  /** It, or what it asked for, has no end. */
  readonly isOpen?: boolean
  /** What it wrote, and what came back to it. */
  readonly said: string
  readonly got: string
}

const MOST_SUSPECTS = 3

/** Suspects of a run: none where it came out well, or where a finding lies on the way to where it failed. */
export function suspectsIn(file: CaseFile, findings: readonly RankedFinding[]): readonly Suspect[] {
  if (!isBadOutcome(file)) return []
  const { view, told } = file
  const end = told.at ?? failurePoint(view)
  const slice = backwardSlice(view, end)
  const isExplained = findings.some(
    ({ severity, confidence, cause }) =>
      (severity === "fatal" || severity === "harm") && confidence !== "possible" && slice.has(cause),
  )
  if (isExplained) return []
  return suspectsOf(decisionsOf(file), {
    end: file.finalOutput ?? view.steps[end - 1]?.error?.line ?? "",
    isFailure: isBadEnd(view),
    expected: told.expected,
  })
}

/** Each decision with what came of it: a model call and the tools it asked for. A tool that no call is known to have asked for stands alone. */
function decisionsOf({ view, words, askedBy }: CaseFile): readonly ReadStep[] {
  const tools = groupBy(toolCallsOf(view), ({ n }) => askedBy.get(n) ?? n)
  const alone = toolCallsOf(view).filter(({ n }) => !askedBy.has(n))
  return [...modelCallsOf(view), ...alone]
    .sort((a, b) => a.n - b.n)
    .map((step) => {
      const done = tools.get(step.n) ?? []
      const own = words.get(step.n)
      const got = done.map((tool) => words.get(tool.n)?.got ?? tool.error?.line ?? tool.tool?.result ?? "")
      return {
        n: step.n,
        acts: done.length > 0 || (step.model?.requestedTools?.length ?? 0) > 0,
        hasFailed: [step, ...done].some(({ error, tool }) => error !== undefined || (tool?.exitCode ?? 0) !== 0),
        isOpen: [step, ...done].some(({ closed }) => closed === undefined),
        said: own?.said ?? step.model?.outputSummary ?? step.tool?.args ?? "",
        got: [own?.got ?? step.error?.line ?? "", ...got].join("\n"),
      }
    })
}

export interface Ending {
  /** It ended in an error: what failed first is then what counts. */
  readonly isFailure: boolean
  /** What the run came to: its answer, or the error it ended with. */
  readonly end: string
  /** What it should have come to, where the user said so. */
  readonly expected?: string | undefined
}

/**
 * At most three steps, the one to read first first. Each trait has the weight that it earned on labelled failures (docs/diagnosis.md). Of
 * equals the earlier one: what went wrong first is read first.
 */
export function suspectsOf(steps: readonly ReadStep[], ending: Ending): readonly Suspect[] {
  const firstFailed = steps.findIndex(({ hasFailed }) => hasFailed)
  const origins = originsOf(steps, ending)
  const weighed = steps.map((step, index) => {
    const traits: Trait[] = []
    if (step.acts) traits.push("acts")
    if (index === firstFailed && ending.isFailure) traits.push("failed_first")
    if (step.isOpen === true && ending.isFailure) traits.push("cut_off")
    if (UNVERIFIED.test(step.said)) traits.push("unverified")
    if (origins.has(index)) traits.push("origin")
    return { n: step.n, traits, weight: traits.reduce((sum, trait) => sum + WEIGHTS[trait], 0) }
  })
  return weighed
    .sort((a, b) => b.weight - a.weight || a.n - b.n)
    .slice(0, MOST_SUSPECTS)
    .map(({ n, traits }) => ({ n, why: traits.length === 0 ? [EARLY] : traits.map((trait) => WORDS[trait]) }))
}

const EARLY = "nothing tells it apart: it comes early"

type Trait = "acts" | "failed_first" | "cut_off" | "unverified" | "origin"

/**
 * Fitted on wrong answers of the open share of Who&When; there neither the first failure nor where a value came from told anything, so they
 * count only where the run itself failed, or the user said what was expected.
 */
const WEIGHTS: Readonly<Record<Trait, number>> = { acts: 2, unverified: 1, failed_first: 3, cut_off: 3, origin: 3 }

const WORDS: Readonly<Record<Trait, string>> = {
  acts: "it acts rather than plans",
  failed_first: "it, or what it asked for, was the first to fail",
  cut_off: "it, or what it asked for, had no end when the run failed",
  unverified: "it assumes or makes up what it could have looked up",
  origin: "a value of the outcome comes from it, or from what it asked for",
}

const UNVERIFIED =
  /\b(?:assum(?:e|es|ed|ing|ption)|simulat(?:e|es|ed|ing|ion)|placeholder|hypothetical(?:ly)?|dummy|mock(?:ed)?|made[- ]up|for (?:illustration|demonstration)|cannot (?:access|verify|browse))\b/i

/** Where words of the outcome that are not part of what was expected were first written. */
function originsOf(steps: readonly ReadStep[], { end, expected }: Ending): ReadonlySet<number> {
  const origins = new Set<number>()
  if (expected === undefined) return origins
  const wanted = expected.toLowerCase()
  const words = new Set(end.toLowerCase().match(/[\p{L}\p{N}](?:[\p{L}\p{N}._@:/-]*[\p{L}\p{N}])?/gu) ?? [])
  for (const word of [...words]
    .filter((one) => one.length >= LEAST_WORD && !wanted.includes(one))
    .slice(0, MOST_WORDS)) {
    const index = steps.findIndex(({ said, got }) => `${said}\n${got}`.toLowerCase().includes(word))
    if (index !== -1) origins.add(index)
  }
  return origins
}

const LEAST_WORD = 2
const MOST_WORDS = 40
