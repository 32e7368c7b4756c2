/** From a moment of a run to a share of the width, with idle stretches cut out, and back. */
export interface TimeScale {
  at(micros: number): number
  /** Where idle time was cut: shares of the width, and how long it was. */
  readonly cuts: readonly { at: number; micros: number }[]
  readonly ticks: readonly { at: number; micros: number }[]
}

export interface Span {
  readonly from: number
  readonly to: number
}

/** What a cut leaves of an idle stretch, as a share of the busy time. */
const CUT_SHARE = 0.03
/** An idle stretch is cut where it would take more than this share of the whole. */
const WORTH_CUTTING = 0.12

/**
 * The scale of a run from 0 to `end`. `busy` is what happened in it, in any order; a stretch in which nothing did is drawn as a narrow
 * mark when it would take the room of what did. `view` is the zoomed part, in shares of the unzoomed width.
 */
export function timeScale(end: number, busy: readonly Span[], view: Span = { from: 0, to: 1 }): TimeScale {
  const whole = Math.max(1, end)
  const idle = idleStretches(whole, busy).filter(({ from, to }) => to - from > whole * WORTH_CUTTING && to - from > 1e6)
  const idleTime = idle.reduce((sum, { from, to }) => sum + to - from, 0)
  const busyTime = Math.max(1, whole - idleTime)
  const cutWidth = idle.length === 0 ? 0 : busyTime * CUT_SHARE
  const width = busyTime + cutWidth * idle.length

  // Pieces of time with the place at which each begins; places grow by one a microsecond, but for cuts.
  const pieces: { from: number; to: number; place: number; width: number; isCut: boolean }[] = []
  let place = 0
  let from = 0
  for (const stretch of idle) {
    if (stretch.from > from) pieces.push({ from, to: stretch.from, place, width: stretch.from - from, isCut: false })
    place += stretch.from - from
    pieces.push({ from: stretch.from, to: stretch.to, place, width: cutWidth, isCut: true })
    place += cutWidth
    from = stretch.to
  }
  pieces.push({ from, to: whole, place, width: Math.max(0, whole - from), isCut: false })

  const zoom = Math.max(1e-9, view.to - view.from)
  const share = (position: number): number => (position / width - view.from) / zoom
  const at = (micros: number): number => {
    const moment = Math.min(Math.max(0, micros), whole)
    const piece = pieces.find((one) => moment <= one.to) ?? pieces.at(-1)!
    const length = piece.to - piece.from
    const into = length <= 0 ? 0 : (moment - piece.from) / length
    return share(piece.place + into * piece.width)
  }
  const shown = (one: number): boolean => one >= 0 && one <= 1
  const isInCut = (micros: number): boolean => idle.some((one) => micros > one.from && micros < one.to)
  return {
    at,
    cuts: pieces
      .filter(({ isCut }) => isCut)
      .map((piece) => ({ at: share(piece.place + piece.width / 2), micros: piece.to - piece.from }))
      .filter((cut) => shown(cut.at)),
    ticks: ticksFor(busyTime * zoom, whole)
      .filter((micros) => !isInCut(micros))
      .map((micros) => ({ at: at(micros), micros }))
      .filter((tick) => shown(tick.at)),
  }
}

function idleStretches(end: number, busy: readonly Span[]): Span[] {
  const stretches: Span[] = []
  let until = 0
  for (const { from, to } of [...busy].sort((a, b) => a.from - b.from)) {
    if (from > until) stretches.push({ from: until, to: from })
    until = Math.max(until, to)
  }
  if (end > until) stretches.push({ from: until, to: end })
  return stretches
}

/** Round moments: 1, 2 or 5 of a unit, at most three and at least one between the ends. */
function ticksFor(shown: number, end: number): number[] {
  const rough = shown / 3
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, rough)))
  const step = [1, 2, 5, 10].map((one) => one * unit).find((one) => one >= rough) ?? rough
  const ticks: number[] = []
  for (let micros = step; micros < end && ticks.length < 10_000; micros += step) ticks.push(micros)
  return ticks
}
