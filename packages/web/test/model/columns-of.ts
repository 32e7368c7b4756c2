import type { StepColumns } from "../../src/model/step-columns.js"

export interface StepSketch {
  readonly n: number
  readonly parent?: number | null
  readonly kind?: string
  readonly name?: string
  readonly status?: string
  readonly lane?: string | undefined
  readonly from?: number
  readonly takes?: number
}

/** Columns as the server answers them, from a few words a step. */
export function columnsOf(steps: readonly StepSketch[]): StepColumns {
  const words: string[] = []
  const word = (text: string | undefined): number | null => {
    if (text === undefined) return null
    if (!words.includes(text)) words.push(text)
    return words.indexOf(text)
  }
  const column = (read: (step: StepSketch) => number | null): (number | null)[] => steps.map(read)
  const unknown = column(() => null)
  return {
    run_id: "run_of_the_test",
    total: steps.length,
    words,
    columns: {
      n: column(({ n }) => n),
      parent: column(({ parent }) => parent ?? null),
      kind: column(({ kind }) => word(kind ?? "step")),
      work_kind: unknown,
      name: column(({ name }) => word(name)),
      status: column(({ status }) => word(status ?? "success")),
      mode: unknown,
      lane: column(({ lane }) => (lane === undefined ? null : word(lane))),
      inferred_by: unknown,
      attempt_no: unknown,
      error_class: unknown,
      started_us: column(({ from }) => from ?? null),
      duration_us: column(({ takes }) => takes ?? null),
      input_tokens: unknown,
      output_tokens: unknown,
      cache_read_tokens: unknown,
    },
  }
}
