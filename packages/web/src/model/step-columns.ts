type ColumnName =
  | "n"
  | "parent"
  | "kind"
  | "work_kind"
  | "name"
  | "status"
  | "mode"
  | "lane"
  | "inferred_by"
  | "attempt_no"
  | "error_class"
  | "started_us"
  | "duration_us"
  | "input_tokens"
  | "output_tokens"
  | "cache_read_tokens"

/** Steps of a run as columns, in the order of their numbers; entries that are words are places in `words`, null is unknown. */
export interface StepColumns {
  readonly run_id: string
  readonly total: number
  readonly words: readonly string[]
  readonly columns: Readonly<Record<ColumnName, readonly (number | null)[]>>
}

const NAMES: readonly ColumnName[] = [
  "n",
  "parent",
  "kind",
  "work_kind",
  "name",
  "status",
  "mode",
  "lane",
  "inferred_by",
  "attempt_no",
  "error_class",
  "started_us",
  "duration_us",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
]
const WORDS: readonly ColumnName[] = [
  "kind",
  "work_kind",
  "name",
  "status",
  "mode",
  "lane",
  "inferred_by",
  "error_class",
]

/** A page of steps behind what is known: steps that are known already, which a running run may have changed, are replaced. */
export function joinColumns(known: StepColumns, page: StepColumns): StepColumns {
  const first = page.columns.n[0] ?? Number.POSITIVE_INFINITY
  let keep = known.columns.n.findIndex((n) => n! >= first)
  if (keep === -1) keep = known.columns.n.length
  const words = [...known.words]
  const place = new Map(words.map((word, at) => [word, at]))
  const moved = page.words.map((word) => {
    const at = place.get(word)
    if (at !== undefined) return at
    place.set(word, words.length)
    return words.push(word) - 1
  })
  const columns = Object.fromEntries(
    NAMES.map((name) => {
      const added = WORDS.includes(name)
        ? page.columns[name].map((at) => (at === null ? null : moved[at]!))
        : page.columns[name]
      return [name, [...known.columns[name].slice(0, keep), ...added]]
    }),
  ) as unknown as StepColumns["columns"]
  return { run_id: page.run_id, total: page.total, words, columns }
}
