// Strata: x is the model calls of a lane in order, y the token offset in the prompt. A band is a piece that keeps its offset over a row of
// calls; here it is cut into cells by what was paid for it.

/** `[piece, from_call, to_call, offset, tokens]`, calls counted from 0, both ends included. */
export type Band = readonly [piece: number, from: number, to: number, offset: number, tokens: number]

export interface StrataCall {
  readonly n: number
  readonly tokens: number
  readonly output_tokens: number | null
  readonly cache_read: number | null
  /** What was read is told in multiples of this: above 1 the line of the cache is about where it is drawn. */
  readonly cache_read_step: number
  /** What was paid for its tokens; `cached` and `again` are null where nobody said what the cache served. */
  readonly cached: number | null
  readonly again: number | null
  readonly fresh: number
  /** What the application set as the limit, and how much it considered and left out; null where nobody said. */
  readonly token_budget: number | null
  readonly excluded: number | null
  /** The provider holds more for the conversation, and no request says how much. */
  readonly held_by_provider: string | null
  readonly broke: {
    readonly offset: number
    readonly piece: number | null
    readonly contributor: string | null
    readonly cause: string
  } | null
  readonly dropped: { readonly tokens: number; readonly pieces: number; readonly why: string } | null
}

export interface StrataPiece {
  readonly kind: string
  readonly contributor: string | null
  readonly label: string
  readonly is_error: boolean
}

export interface StrataData {
  readonly calls: readonly StrataCall[]
  readonly pieces: readonly StrataPiece[]
  readonly bands: readonly Band[]
}

/** In the order in which they are drawn: what was lost comes last, so that it is what is seen where cells share a pixel. */
export const CELL_STATES = ["cached", "held", "new", "again"] as const

/** `held`: in the call before as well, and nobody knows whether the cache served it. */
export type CellState = (typeof CELL_STATES)[number]

export interface Cell {
  readonly piece: number
  readonly state: CellState
  /** Calls, both included. */
  readonly from: number
  readonly to: number
  /** Token offsets. */
  readonly top: number
  readonly bottom: number
}

/** All cells, merged over neighbouring calls that paid for a piece in the same way, in the order of `CELL_STATES`. */
export function strataCells({ calls, bands }: StrataData): Cell[] {
  const holds = heldAt(bands)
  const cells: Readonly<Record<CellState, Cell[]>> = { cached: [], held: [], new: [], again: [] }
  for (const [piece, from, to, top, tokens] of bands) {
    const bottom = top + tokens
    const add = (state: CellState, first: number, last: number, upper: number, lower: number): void => {
      if (lower > upper) cells[state].push({ piece, state, from: first, to: last, top: upper, bottom: lower })
    }
    let first = from
    let line = Number.NaN
    let rest: CellState = "new"
    const close = (last: number): void => {
      if (last < first) return
      add("cached", first, last, top, line)
      add(rest, first, last, line, bottom)
    }
    for (let call = from; call <= to; call += 1) {
      const read = calls[call]!.cache_read
      const nowLine = Math.min(bottom, Math.max(top, read ?? 0))
      // Within a band the call before held the piece; its first call has it from another band, or it is new.
      const isHeld = call > from || holds(piece, call - 1)
      const nowRest: CellState = !isHeld ? "new" : read === null ? "held" : "again"
      if (nowLine === line && (nowRest === rest || nowLine === bottom)) continue
      close(call - 1)
      first = call
      line = nowLine
      rest = nowRest
    }
    close(to)
  }
  return CELL_STATES.flatMap((state) => cells[state])
}

/**
 * Which call a pixel column shows where there are more calls than pixels: the one that paid most for what had been sent before, so that a
 * loss is never averaged away.
 */
export function worstCalls(again: readonly number[], columns: number): number[] {
  return Array.from({ length: columns }, (_, column) => {
    const from = Math.floor((column * again.length) / columns)
    const to = Math.max(from + 1, Math.floor(((column + 1) * again.length) / columns))
    let worst = from
    for (let call = from + 1; call < Math.min(to, again.length); call += 1)
      if (again[call]! > again[worst]!) worst = call
    return worst
  })
}

const CAUSE_WORDS: Readonly<Record<string, string>> = {
  volatile_value: "a value that changes with every call",
  unstable_serialisation: "the same, written in another order",
  tools_changed: "the tools changed",
  history_rewritten: "messages rewritten",
  content_changed: "the text changed",
  injection_changed: "what is put in changed",
}

/** What broke a prefix: the piece by its name, and why. */
export function breakWords(broke: NonNullable<StrataCall["broke"]>, pieces: readonly StrataPiece[]): string {
  const piece = broke.piece === null ? broke.contributor : pieces[broke.piece]?.label
  return `${piece ?? "a piece"}: ${CAUSE_WORDS[broke.cause] ?? broke.cause.replaceAll("_", " ")}`
}

/** `≈` where the provider counts what it read in steps. */
export const about = ({ cache_read, cache_read_step }: StrataCall): string =>
  cache_read !== null && cache_read > 0 && cache_read_step > 1 ? "≈" : ""

/** A row of neighbouring calls that broke for the same reason gets one label. */
export function breakRows({
  calls,
  pieces,
}: StrataData): { from: number; to: number; offset: number; words: string }[] {
  const rows: { from: number; to: number; offset: number; words: string }[] = []
  calls.forEach((call, at) => {
    if (!call.broke) return
    const words = breakWords(call.broke, pieces)
    const last = rows.at(-1)
    if (last && last.to === at - 1 && last.words === words) last.to = at
    else rows.push({ from: at, to: at, offset: call.broke.offset, words })
  })
  return rows
}

/** The bands a call holds, from the top. */
export const bandsOfCall = (data: StrataData, call: number): Band[] =>
  data.bands.filter(([, from, to]) => from <= call && call <= to).sort((one, other) => one[3] - other[3])

/** A tick every 1, 2, 2.5 or 5 of a power of ten, about four of them. */
export function tokenTicks(most: number): number[] {
  const rough = Math.max(1, most) / 4
  const unit = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((one) => one * unit).find((one) => one >= rough) ?? unit * 10
  const ticks: number[] = []
  for (let at = 0; at <= most; at += step) ticks.push(at)
  return ticks
}

/** Whether a call held a piece, wherever it stood there. */
function heldAt(bands: readonly Band[]): (piece: number, call: number) => boolean {
  const rows = new Map<number, Band[]>()
  for (const band of bands) {
    const known = rows.get(band[0])
    if (known) known.push(band)
    else rows.set(band[0], [band])
  }
  return (piece, call) => rows.get(piece)!.some(([, from, to]) => from <= call && call <= to)
}
