import type { StepColumns } from "./step-columns.js"

/** One line of the skeleton. Flat, so that ten thousand of them cost what is on screen. */
export interface RunRow {
  readonly n: number
  readonly depth: number
  readonly parent: number | null
  readonly kind: string
  readonly name: string
  readonly status: string
  readonly mode: string | null
  readonly startMicros: number | null
  readonly durationMicros: number | null
  readonly tokensIn: number | null
  readonly tokensOut: number | null
  readonly cacheRead: number | null
  readonly isInferred: boolean
  /** How many rows stand below this one in the tree, at any depth: the length of what folding it hides. */
  readonly below: number
  /** For the lines of the tree: whether a sibling follows, for this row and for each of its parents below the run. */
  readonly guides: readonly boolean[]
}

/** Rows in the order of the tree: children under their parent, in the order of their numbers. */
export function runRows({ words, columns }: StepColumns): RunRow[] {
  const numbers = columns.n as readonly number[]
  const indexOf = new Map(numbers.map((n, index) => [n, index]))
  const children: number[][] = numbers.map(() => [])
  const roots: number[] = []
  numbers.forEach((n, index) => {
    const parent = columns.parent[index] ?? null
    const above = parent === null ? undefined : indexOf.get(parent)
    // A parent that comes later, or not at all, cannot hold a row: nothing may vanish for want of a parent.
    if (above === undefined || parent! >= n) roots.push(index)
    else children[above]!.push(index)
  })

  const below = numbers.map(() => 0)
  for (let index = numbers.length - 1; index >= 0; index -= 1)
    for (const child of children[index]!) below[index]! += 1 + below[child]!

  const wordAt = (place: number | null | undefined): string | null =>
    place === null || place === undefined ? null : (words[place] ?? null)
  const rows: RunRow[] = []
  const waiting: { index: number; depth: number; guides: boolean[] }[] = []
  const push = (indexes: readonly number[], depth: number, guides: boolean[]): void => {
    for (let at = indexes.length - 1; at >= 0; at -= 1) {
      const own = depth === 0 ? [] : [...guides.slice(-MOST_GUIDES), at < indexes.length - 1]
      waiting.push({ index: indexes[at]!, depth, guides: own })
    }
  }
  push(roots, 0, [])
  while (waiting.length > 0) {
    const { index, depth, guides } = waiting.pop()!
    rows.push({
      n: numbers[index]!,
      depth,
      parent: columns.parent[index] ?? null,
      kind: wordAt(columns.kind[index]) ?? "unknown",
      name: [wordAt(columns.work_kind[index]), wordAt(columns.name[index])].filter((word) => word !== null).join(" "),
      status: wordAt(columns.status[index]) ?? "open",
      mode: wordAt(columns.mode[index]),
      startMicros: columns.started_us[index] ?? null,
      durationMicros: columns.duration_us[index] ?? null,
      tokensIn: columns.input_tokens[index] ?? null,
      tokensOut: columns.output_tokens[index] ?? null,
      cacheRead: columns.cache_read_tokens[index] ?? null,
      isInferred: wordAt(columns.inferred_by[index]) !== null,
      below: below[index]!,
      guides,
    })
    push(children[index]!, depth + 1, guides)
  }
  return rows
}

/** A chain of ten thousand nested steps must not carry ten thousand guides a row. */
const MOST_GUIDES = 12

const WORST_FIRST = ["crashed", "error", "failed", "timeout", "partial", "open", "running", "silent"]

/** Whether a status is one that people look for. */
export const isTrouble = (status: string): boolean => ["crashed", "error", "failed", "timeout"].includes(status)

/** The worst of two statuses, so that a fold never hides a failure. */
export function worseStatus(one: string, other: string): string {
  const rank = (status: string): number => {
    const at = WORST_FIRST.indexOf(status)
    return at === -1 ? WORST_FIRST.length : at
  }
  return rank(one) <= rank(other) ? one : other
}
