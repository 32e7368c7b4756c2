import type { FoldedKind, TokenCounts } from "@orangebox/runs"
import type { Durations } from "./spread.js"

export type Origin = "recorded" | "replayed" | "imported"

/** What tells steps apart in every figure. */
export interface StepSort {
  /** The UTC day. */
  readonly period: string
  readonly kind: FoldedKind
  /** What a plain step says it is: retrieval, queue.deliver, … */
  readonly workKind: string | null
  readonly name: string
  readonly provider: string | null
  readonly source: string | null
  readonly app: string | null
  readonly agentVersion: string | null
  readonly origin: Origin
}

/** What steps of one sort and day add up to, as a store keeps it when the steps themselves are gone. Null is unknown. */
export interface StepSum extends StepSort {
  readonly count: number
  readonly successes: number
  readonly errors: number
  readonly timeouts: number
  readonly open: number
  readonly errorClasses: Readonly<Record<string, number>>
  readonly attempts: number | null
  readonly durationMsSum: number
  readonly durationMsMax: number
  readonly durations: Durations
  readonly firstByteMsSum: number | null
  readonly firstByteMsMax: number | null
  readonly firstBytes: Durations
  readonly generations: Durations
  readonly tokens: Readonly<TokenCounts>
  readonly callsWithoutUsage: number | null
  readonly usd: number | null
  readonly unpricedCalls: number | null
}

/** How long one step took, where its row is still there. */
export interface StepDuration extends StepSort {
  readonly durationMs: number
  readonly firstByteMs: number | null
}

/** What a user asked to see; a `*` stands for any text. */
export interface StatsFilter {
  readonly app?: string
  readonly version?: string
  readonly model?: string
  readonly tool?: string
  readonly kind?: string
  readonly source?: string
  readonly origin?: Origin | "all"
}

/** What a step says in each filter; undefined where the filter is not about it. */
const FILTERED: Readonly<Record<Exclude<keyof StatsFilter, "origin">, (step: StepSort) => string | undefined>> = {
  app: ({ app }) => app ?? "",
  version: ({ agentVersion }) => agentVersion ?? "",
  model: ({ kind, name }) => (kind === "model" ? name : undefined),
  tool: ({ kind, name }) => (kind === "tool" ? name : undefined),
  kind: (step) => kindOf(step),
  source: ({ source }) => source ?? "",
}

const NAMES = Object.keys(FILTERED) as (keyof typeof FILTERED)[]

/** What a step is: the kind of work that it says, else model, tool, run or step. */
export const kindOf = ({ kind, workKind }: StepSort): string => workKind ?? kind

export function isCounted({ origin = "recorded" }: StatsFilter): (step: Pick<StepSort, "origin">) => boolean {
  return (step) => origin === "all" || step.origin === origin
}

/** Whether a step is among those asked for, wherever it came from. */
export function matches(filter: StatsFilter): (step: StepSort) => boolean {
  const tests = NAMES.flatMap((name) => {
    const wanted = filter[name]
    if (wanted === undefined) return []
    const isWanted = wordTest(wanted)
    return [
      (step: StepSort): boolean => {
        const said = FILTERED[name](step)
        return said !== undefined && isWanted(said)
      },
    ]
  })
  return (step) => tests.every((test) => test(step))
}

export function wordTest(wanted: string): (said: string) => boolean {
  if (!wanted.includes("*")) return (said) => said === wanted
  const parts = wanted.split("*").map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"))
  const pattern = new RegExp(`^${parts.join("[\\s\\S]*?")}$`)
  return (said) => pattern.test(said)
}

/** A filter that nothing recorded in this time answers to, and what it could have been. */
export interface UnknownWord {
  readonly filter: string
  readonly wanted: string
  readonly known: readonly string[]
}

export function unknownWord(sums: readonly StepSum[], filter: StatsFilter): UnknownWord | undefined {
  for (const name of NAMES) {
    const wanted = filter[name]
    if (wanted === undefined) continue
    const known = [...new Set(sums.map(FILTERED[name]).filter((said) => said !== undefined && said !== ""))].sort()
    const isWanted = wordTest(wanted)
    if (!known.some((said) => isWanted(said!))) return { filter: name, wanted, known: known as string[] }
  }
  return undefined
}
