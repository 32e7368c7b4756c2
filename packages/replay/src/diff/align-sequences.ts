import { commonSubsequence } from "@orangebox/text"
import { DIFF_KINDS } from "./diff-step.js"
import { IN_SYNC, NEVER } from "./distance.js"
import { type Element, elementDistance } from "./elements.js"
import { alignAffine } from "./gotoh.js"
import { longestIncreasing } from "./increasing.js"

/** What an alignment cost and where it had to be coarse. */
export interface AlignmentWork {
  /** Cells of all tables that were filled. */
  cells: number
  anchors: number
  /** Stretches too large for one table, cut along a coarse alignment first. */
  coarse: number
}

/** The largest table for one gap; above, the gap is cut along a coarse alignment by kind and name. */
export const MAX_CELLS = 4_000_000
/** A cut gap is cut until its pieces are this small: many small tables are cheaper than one large. */
const COARSE_CELLS = 100_000
const MAX_COARSE_EDITS = 2_000

/** A stretch of both sequences: [fromA, toA) against [fromB, toB). */
interface Gap {
  readonly fromA: number
  readonly toA: number
  readonly fromB: number
  readonly toB: number
}

type Pairs = [number, number][]

/** Which elements of two sequences stand for each other, in order. */
export function alignSequences(a: readonly Element[], b: readonly Element[], work: AlignmentWork): Pairs {
  const pairs: Pairs = []
  const whole = trim(a, b, { fromA: 0, toA: a.length, fromB: 0, toB: b.length }, pairs)
  let { fromA, fromB } = whole
  for (const [i, j] of [...anchorsIn(a, b, whole, work), [whole.toA, whole.toB] as const]) {
    const gap = trim(a, b, { fromA, toA: i, fromB, toB: j }, pairs)
    pairs.push(...alignGap(a, b, gap, work))
    if (i < whole.toA) pairs.push([i, j])
    fromA = i + 1
    fromB = j + 1
  }
  return pairs.sort(([x], [y]) => x - y)
}

/** Takes what is the same off both ends. */
function trim(a: readonly Element[], b: readonly Element[], gap: Gap, pairs: Pairs): Gap {
  let { fromA, toA, fromB, toB } = gap
  while (fromA < toA && fromB < toB && a[fromA]!.key === b[fromB]!.key) pairs.push([fromA++, fromB++])
  while (fromA < toA && fromB < toB && a[toA - 1]!.key === b[toB - 1]!.key) pairs.push([--toA, --toB])
  return { fromA, toA, fromB, toB }
}

/** Elements that are there once on either side, as many of them as keep their order. */
function anchorsIn(a: readonly Element[], b: readonly Element[], gap: Gap, work: AlignmentWork): Pairs {
  const placesA = solePlaces(a, gap.fromA, gap.toA)
  const placesB = solePlaces(b, gap.fromB, gap.toB)
  const found: Pairs = []
  for (const [anchor, i] of placesA) {
    const j = placesB.get(anchor) ?? -1
    if (i >= 0 && j >= 0) found.push([i, j])
  }
  const kept = longestIncreasing(found.map(([, j]) => j)).map((position) => found[position]!)
  work.anchors += kept.length
  return kept
}

/** Where each anchor stands, -1 for one that is there more than once. In the order of the sequence. */
function solePlaces(elements: readonly Element[], from: number, to: number): Map<number, number> {
  const places = new Map<number, number>()
  for (let i = from; i < to; i++) {
    const { anchor } = elements[i]!
    if (anchor >= 0) places.set(anchor, places.has(anchor) ? -1 : i)
  }
  return places
}

function alignGap(a: readonly Element[], b: readonly Element[], gap: Gap, work: AlignmentWork): Pairs {
  const cells = (gap.toA - gap.fromA) * (gap.toB - gap.fromB)
  if (cells === 0) return []
  if (cells <= MAX_CELLS) return alignFinely(a, b, gap, work)
  work.coarse += 1
  return cutCoarsely(a, b, gap).flatMap((piece) => alignFinely(a, b, piece, work))
}

function alignFinely(a: readonly Element[], b: readonly Element[], gap: Gap, work: AlignmentWork): Pairs {
  const { fromA, toA, fromB, toB } = gap
  work.cells += (toA - fromA) * (toB - fromB)
  // Most cells hold two steps that have nothing to do with each other; these numbers tell at once.
  const sortsA = sortsOf(a, fromA, toA)
  const sortsB = sortsOf(b, fromB, toB)
  return alignAffine(
    toA - fromA,
    toB - fromB,
    (i, j) => {
      if (sortsA.label[i] === sortsB.label[j] || sortsA.label[i] === A_SET || sortsB.label[j] === A_SET) {
        return elementDistance(a[fromA + i]!, b[fromB + j]!)
      }
      return sortsA.kind[i] === sortsB.kind[j] ? 1 : NEVER
    },
    (i) => a[fromA + i]!.weight,
    (j) => b[fromB + j]!.weight,
  ).map(([i, j]) => [fromA + i, fromB + j])
}

const A_SET = -1

function sortsOf(elements: readonly Element[], from: number, to: number): { label: Int32Array; kind: Int32Array } {
  const label = new Int32Array(to - from)
  const kind = new Int32Array(to - from)
  for (let i = from; i < to; i++) {
    const { members } = elements[i]!
    label[i - from] = members.length === 1 ? members[0]!.label : A_SET
    kind[i - from] = DIFF_KINDS.indexOf(members[0]!.step.kind)
  }
  return { label, kind }
}

/** Halves a gap, again and again, where a coarse alignment pairs two steps in its middle; the best are pairs that are in sync. */
function cutCoarsely(a: readonly Element[], b: readonly Element[], whole: Gap): Gap[] {
  const coarse = commonSubsequence(
    sortsOf(a, whole.fromA, whole.toA).label,
    sortsOf(b, whole.fromB, whole.toB).label,
    MAX_COARSE_EDITS,
  )?.map(([i, j]): [number, number] => [whole.fromA + i, whole.fromB + j])
  const pieces: Gap[] = []
  const waiting = [whole]
  for (let gap = waiting.pop(); gap; gap = waiting.pop()) {
    const lengthA = gap.toA - gap.fromA
    const lengthB = gap.toB - gap.fromB
    if (lengthA * lengthB <= COARSE_CELLS || lengthA < 2 || lengthB < 2) {
      if (lengthA * lengthB > 0) pieces.push(gap)
      continue
    }
    const [cutA, cutB] = cutOf(a, b, gap, coarse ?? [])
    waiting.push({ ...gap, fromA: cutA, fromB: cutB }, { ...gap, toA: cutA, toB: cutB })
  }
  return pieces
}

const CUTS_LOOKED_AT = 32

function cutOf(a: readonly Element[], b: readonly Element[], gap: Gap, coarse: Pairs): readonly [number, number] {
  const middle = (gap.fromA + gap.toA) >> 1
  const inside = coarse.filter(([i, j]) => i > gap.fromA && i < gap.toA && j > gap.fromB && j < gap.toB)
  inside.sort(([x], [y]) => Math.abs(x - middle) - Math.abs(y - middle) || x - y)
  // Near the middle or not at all: a cut at the edge leaves as much to do as there was.
  const near = inside.filter(([i]) => Math.abs(i - middle) * 4 < gap.toA - gap.fromA).slice(0, CUTS_LOOKED_AT)
  const inSync = near.find(([i, j]) => elementDistance(a[i]!, b[j]!) <= IN_SYNC)
  return inSync ?? near[0] ?? [middle, (gap.fromB + gap.toB) >> 1]
}
