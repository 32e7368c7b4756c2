import type { StepColumns } from "./step-columns.js"

/** One line of the skeleton. Flat, so that ten thousand of them cost what is on screen. */
export interface RunRow {
  /** Of the step; a lane, which is no step, has the number of its first one with a minus. */
  readonly n: number
  readonly depth: number
  /** The row this one stands under. */
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

/** Rows in the order of the tree: children under their parent, in the order of their numbers, further lanes as groups. */
export function runRows({ words, columns }: StepColumns): RunRow[] {
  const numbers = columns.n as readonly number[]
  const indexOf = new Map(numbers.map((n, index) => [n, index]))
  const children: number[][] = numbers.map(() => [])
  let roots: number[] = []
  numbers.forEach((n, index) => {
    const parent = columns.parent[index] ?? null
    const above = parent === null ? undefined : indexOf.get(parent)
    // A parent that comes later, or not at all, cannot hold a row: nothing may vanish for want of a parent.
    if (above === undefined || parent! >= n) roots.push(index)
    else children[above]!.push(index)
  })
  const lanes: Lane[] = []
  const groupLanes = (siblings: number[]): number[] => {
    const main = siblings.find((index) => columns.lane[index] != null)
    if (
      main === undefined ||
      siblings.every((index) => (columns.lane[index] ?? columns.lane[main]) === columns.lane[main])
    )
      return siblings
    const places = new Map<number, number>()
    return siblings.flatMap((index) => {
      const lane = columns.lane[index] ?? null
      if (lane === null || lane === columns.lane[main]) return [index]
      const known = places.get(lane)
      if (known !== undefined) {
        lanes[known - numbers.length]!.members.push(index)
        return []
      }
      const place = numbers.length + lanes.length
      places.set(lane, place)
      lanes.push({ word: lane, members: [index] })
      return [place]
    })
  }
  roots = groupLanes(roots)
  children.forEach((siblings, index) => {
    if (siblings.length > 1) children[index] = groupLanes(siblings)
  })
  const childrenOf = (place: number): readonly number[] =>
    place < numbers.length ? children[place]! : lanes[place - numbers.length]!.members

  const below = numbers.map(() => 0)
  const belowOf = (place: number): number =>
    place < numbers.length ? below[place]! : childrenOf(place).reduce((sum, child) => sum + 1 + below[child]!, 0)
  for (let index = numbers.length - 1; index >= 0; index -= 1)
    for (const child of children[index]!) below[index]! += 1 + belowOf(child)

  const wordAt = (place: number | null | undefined): string | null =>
    place === null || place === undefined ? null : (words[place] ?? null)
  const rows: RunRow[] = []
  const waiting: { place: number; parent: number | null; depth: number; guides: boolean[] }[] = []
  const push = (places: readonly number[], parent: number | null, depth: number, guides: boolean[]): void => {
    for (let at = places.length - 1; at >= 0; at -= 1) {
      const own = depth === 0 ? [] : [...guides.slice(-MOST_GUIDES), at < places.length - 1]
      waiting.push({ place: places[at]!, parent, depth, guides: own })
    }
  }
  push(roots, null, 0, [])
  while (waiting.length > 0) {
    const { place, parent, depth, guides } = waiting.pop()!
    const at = { depth, parent, guides, below: belowOf(place) }
    const row =
      place < numbers.length
        ? stepRow(place, at)
        : laneRow(wordAt(lanes[place - numbers.length]!.word) ?? "", childrenOf(place), at)
    rows.push(row)
    push(childrenOf(place), row.n, depth + 1, guides)
  }
  return rows

  function stepRow(index: number, at: Pick<RunRow, "depth" | "parent" | "guides" | "below">): RunRow {
    return {
      n: numbers[index]!,
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
      ...at,
    }
  }

  /** From the first of its steps to the end of the last. */
  function laneRow(
    name: string,
    members: readonly number[],
    at: Pick<RunRow, "depth" | "parent" | "guides" | "below">,
  ): RunRow {
    const starts = members.flatMap((index) => columns.started_us[index] ?? [])
    const ends = members.flatMap((index) => {
      const [start, takes] = [columns.started_us[index], columns.duration_us[index]]
      return start == null || takes == null ? [] : [start + takes]
    })
    const isOver = starts.length > 0 && ends.length === members.length
    const start = starts.length === 0 ? null : Math.min(...starts)
    return {
      ...{ n: -numbers[members[0]!]!, kind: LANE, name, status: "success", mode: null, isInferred: false },
      ...{ startMicros: start, durationMicros: isOver ? Math.max(...ends) - start! : null },
      ...{ tokensIn: null, tokensOut: null, cacheRead: null },
      ...at,
    }
  }
}

interface Lane {
  readonly word: number
  readonly members: number[]
}

/** The kind of a row that stands for a lane beside the one its siblings are in. */
export const LANE = "lane"

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
