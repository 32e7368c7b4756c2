import { groupBy } from "../group-by.js"
import { isCounted, type Origin, type StatsFilter, type StepSum, wordTest } from "./step-sums.js"

/** What one contributor stood for in the prompts of a day, as a store keeps it. */
export interface ContributorSum {
  readonly period: string
  readonly contributor: string
  readonly kind: string
  readonly app: string | null
  readonly origin: Origin
  readonly prompts: number
  readonly bytes: number
  readonly tokensEstimated: number | null
  readonly uncountedPrompts: number
  readonly usd: number | null
  readonly unpricedPrompts: number
  readonly uses: number | null
  readonly unheardPrompts: number
  readonly entries: number
}

/**
 * What is worth saying about a contributor. `never_called`: every answer to a prompt with the tool says what it asks for, and none asks for
 * it, nor did it run. `unknown_use`: nothing on record says whether it was of use.
 */
export type ContributorNote =
  | "never_called"
  | "not_seen_called"
  | "never_run"
  | "often_bad_input"
  | "often_fails"
  | "unknown_use"

/** A contributor's standing cost against what it was used for. Null is unknown, or does not apply. */
export interface ContributorFigures {
  readonly contributor: string
  readonly kind: string
  readonly prompts: number
  readonly bytes: number
  /** By its share of each prompt's length. */
  readonly tokensEstimated: number | null
  readonly tokensPerPrompt: number | null
  readonly uncountedPrompts: number
  readonly usd: number | null
  readonly unpricedPrompts: number
  /** How often a model asked for the tool; how often a skill was loaded, or came into a prompt in the middle of a run. */
  readonly uses: number | null
  /** Answers of which it is unknown what they asked for. */
  readonly unheardPrompts: number
  /** Runs of the tool that are on record, how many of them ended well, and how many failed. */
  readonly calls: number | null
  readonly successes: number | null
  readonly errors: number | null
  /** Of the failures, those whose class says that the arguments were wrong. */
  readonly badInput: number | null
  readonly note: ContributorNote | null
}

export interface CostBenefit {
  readonly firstDay: string | null
  readonly lastDay: string | null
  /** What stands in prompts to be used: tools, skills, personas, agent profiles. Never called first, then by standing cost. */
  readonly standing: readonly ContributorFigures[]
  /** What else prompts are made of: history, results, what users said. */
  readonly rest: readonly ContributorFigures[]
  readonly notCounted: readonly { readonly origin: Origin; readonly prompts: number }[]
}

const STANDING: ReadonlySet<string> = new Set(["tool-def", "skill", "persona", "agent-profile"])

export function costBenefit(
  contributors: readonly ContributorSum[],
  sums: readonly StepSum[],
  filter: Pick<StatsFilter, "app" | "origin"> = {},
): CostBenefit {
  const isApp = wordTest(filter.app ?? "*")
  const matching = contributors.filter(({ app }) => isApp(app ?? ""))
  const counted = matching.filter(isCounted(filter))
  const tools = groupBy(
    sums.filter((sum) => sum.kind === "tool" && isApp(sum.app ?? "") && isCounted(filter)(sum)),
    ({ name }) => name,
  )
  const rows = [...groupBy(counted, ({ kind, contributor }) => `${kind}\n${nameOf(kind, contributor)}`).values()]
    .map((of) => figuresOf(of, tools))
    // A tool that is asked for and in no prompt on record costs nothing that anybody knows.
    .filter(({ prompts }) => prompts > 0)
  const days = counted.map(({ period }) => period).sort()
  const left = groupBy(
    matching.filter((sum) => !isCounted(filter)(sum)),
    ({ origin }) => origin,
  )
  return {
    firstDay: days[0] ?? null,
    lastDay: days.at(-1) ?? null,
    standing: rows.filter(({ kind }) => STANDING.has(kind)).sort(idleFirst),
    rest: rows.filter(({ kind }) => !STANDING.has(kind)).sort(dearestFirst),
    notCounted: [...left].map(([origin, of]) => ({
      origin,
      prompts: promptsIn(of),
    })),
  }
}

/** Every prompt has several contributors, so there are as many prompts as the one that stands in most. */
const promptsIn = (sums: readonly ContributorSum[]): number =>
  Math.max(
    ...[...groupBy(sums, ({ kind, contributor }) => `${kind}\n${contributor}`).values()].map((of) =>
      of.reduce((sum, { prompts }) => sum + prompts, 0),
    ),
  )

/** One name for a tool or a skill, however the prompt's author wrote it: `read_file`, or `tool:read_file` as it is read off the wire. */
function nameOf(kind: string, contributor: string): string {
  const prefix = kind === "tool-def" ? "tool:" : kind === "skill" ? "skill:" : ""
  return contributor.startsWith(prefix) ? contributor : prefix + contributor
}

function figuresOf(of: readonly ContributorSum[], tools: ReadonlyMap<string, StepSum[]>): ContributorFigures {
  const { kind, contributor } = of[0]!
  const name = nameOf(kind, contributor)
  const sum = (value: (row: ContributorSum) => number | null): number | null =>
    of.reduce<number | null>((total, row) => added(total, value(row)), null)
  const prompts = sum((row) => row.prompts)!
  const uncountedPrompts = sum((row) => row.uncountedPrompts)!
  const tokensEstimated = sum((row) => row.tokensEstimated)
  const usd = sum((row) => (row.usd === null ? null : Math.round(row.usd * 1e9)))
  const asked = sum((row) => row.uses)
  const unheardPrompts = sum((row) => row.unheardPrompts)!
  const isTool = kind === "tool-def"
  const ran = isTool ? (tools.get(name.slice("tool:".length)) ?? []) : []
  const count = (value: (row: StepSum) => number): number | null =>
    isTool ? ran.reduce((total, row) => total + value(row), 0) : null
  // Loading a skill and its text coming in are one use, told by two events.
  const entered = kind === "skill" ? Math.max(asked ?? 0, sum((row) => row.entries)!) : 0
  const figures = {
    contributor: name,
    kind,
    prompts,
    bytes: sum((row) => row.bytes)!,
    tokensEstimated,
    tokensPerPrompt: tokensEstimated === null ? null : Math.round(tokensEstimated / (prompts - uncountedPrompts)),
    uncountedPrompts,
    usd: usd === null ? null : usd / 1e9,
    unpricedPrompts: sum((row) => row.unpricedPrompts)!,
    uses: kind === "skill" ? entered || null : isTool ? asked : null,
    unheardPrompts,
    calls: count((row) => row.count),
    successes: count((row) => row.successes),
    errors: count((row) => row.errors + row.timeouts),
    badInput: count(badInputIn),
  }
  return { ...figures, note: noteOf(figures) }
}

/** By the name of the error: what validators, protocols and languages call arguments that do not fit. */
const BAD_INPUT = /valid|-32602|\barg(?:ument)?s?\b|argument(?:error)?$|schema|zod|typeerror|parse/i

const badInputIn = ({ errorClasses }: StepSum): number =>
  Object.entries(errorClasses).reduce((sum, [name, count]) => (BAD_INPUT.test(name) ? sum + count : sum), 0)

/** So many failures of ten say something, and fewer than so many calls do not. */
const OFTEN = 0.3
const FEWEST_CALLS = 5

function noteOf(figures: Omit<ContributorFigures, "note">): ContributorNote | null {
  const { kind, uses, calls, errors, badInput, unheardPrompts } = figures
  if (kind === "skill") return uses === null ? "unknown_use" : null
  if (kind !== "tool-def") return null
  if (!calls && !uses) return unheardPrompts > 0 ? "not_seen_called" : "never_called"
  if (!calls) return "never_run"
  if (calls < FEWEST_CALLS) return null
  if (badInput! / calls >= OFTEN) return "often_bad_input"
  return errors! / calls >= OFTEN ? "often_fails" : null
}

const IDLE: ReadonlySet<ContributorNote | null> = new Set(["never_called", "not_seen_called"])

function idleFirst(one: ContributorFigures, other: ContributorFigures): number {
  return Number(IDLE.has(other.note)) - Number(IDLE.has(one.note)) || dearestFirst(one, other)
}

function dearestFirst(one: ContributorFigures, other: ContributorFigures): number {
  return (
    (other.usd ?? 0) - (one.usd ?? 0) ||
    (other.tokensEstimated ?? 0) - (one.tokensEstimated ?? 0) ||
    other.bytes - one.bytes ||
    (one.contributor < other.contributor ? -1 : 1)
  )
}

const added = (sum: number | null, more: number | null): number | null => (more === null ? sum : (sum ?? 0) + more)
