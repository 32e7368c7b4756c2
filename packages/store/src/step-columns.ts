import type { StepStatus } from "@orangebox/runs"
import type { RowValue } from "./row-values.js"
import type { StepColumns } from "./trace-store.js"

/** No more steps at once than a page can paint. */
export const MOST_COLUMNS = 10_000

/** A step as an engine hands it out for columns. */
export interface StepCells {
  readonly n: number
  readonly parent: number | null
  readonly kind: string
  readonly workKind: RowValue
  readonly name: RowValue
  readonly provider: RowValue
  readonly status: StepStatus
  readonly mode: string | null
  readonly lane: string | null
  readonly inferredBy: RowValue
  readonly attempt: number | null
  readonly errorClass: RowValue
  readonly openedAtMs: number
  readonly openedMono: number | null
  readonly duration: number | null
  readonly prompt: number | null
  readonly completion: number | null
  readonly cacheRead: number | null
  readonly cacheWrite: number | null
}

/**
 * The steps of a run as columns, without reading an event: what a list of ten thousand of them is painted from. Names stand once each, and
 * the columns hold their places.
 */
export function toStepColumns(
  run: {
    readonly steps: number
    readonly status: string
    readonly startedAtMs: number
    readonly firstMono: number | null
  },
  steps: Iterable<StepCells>,
): StepColumns {
  const words = new Words()
  const columns: { -readonly [Name in keyof StepColumns["columns"]]: (number | null)[] } = {
    n: [],
    parent: [],
    kind: [],
    work_kind: [],
    name: [],
    provider: [],
    status: [],
    mode: [],
    lane: [],
    inferred_by: [],
    attempt_no: [],
    error_class: [],
    started_us: [],
    duration_us: [],
    input_tokens: [],
    output_tokens: [],
    cache_read_tokens: [],
    cache_write_tokens: [],
  }
  for (const step of steps) {
    const { status, openedMono: mono } = step
    columns.n.push(step.n)
    columns.parent.push(step.parent)
    columns.kind.push(words.of(step.kind))
    columns.work_kind.push(words.of(step.workKind))
    columns.name.push(words.of(step.name || null))
    columns.provider.push(words.of(step.provider))
    columns.status.push(words.of(status === "open" && run.status === "crashed" ? "crashed" : status))
    columns.mode.push(words.of(step.mode))
    columns.lane.push(words.of(step.lane))
    columns.inferred_by.push(words.of(step.inferredBy))
    columns.attempt_no.push(step.attempt)
    columns.error_class.push(words.of(step.errorClass))
    // Of a step whose opening was lost the wall clock is all there is.
    columns.started_us.push(
      mono !== null && run.firstMono !== null ? mono - run.firstMono : (step.openedAtMs - run.startedAtMs) * 1000,
    )
    columns.duration_us.push(step.duration)
    columns.input_tokens.push(step.prompt)
    columns.output_tokens.push(step.completion)
    columns.cache_read_tokens.push(step.cacheRead)
    columns.cache_write_tokens.push(step.cacheWrite)
  }
  return { total: run.steps, words: words.all, columns }
}

class Words {
  readonly all: string[] = []
  readonly #places = new Map<string, number>()

  of(word: RowValue | undefined): number | null {
    if (word == null) return null
    const text = String(word)
    const known = this.#places.get(text)
    if (known !== undefined) return known
    this.#places.set(text, this.all.length)
    return this.all.push(text) - 1
  }
}
