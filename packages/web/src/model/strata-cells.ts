// Strata: x is the model calls of a lane in order, y the token offset in the prompt. A band is a piece that keeps its offset over a row of
// calls; here it is cut into cells by what was paid for it.

/** `[piece, from_call, to_call, offset, tokens]`, calls counted from 0, both ends included. */
export type Band = readonly [piece: number, from: number, to: number, offset: number, tokens: number]

export interface StrataCall {
  readonly n: number
  readonly tokens: number
  readonly output_tokens: number | null
  readonly cache_read: number | null
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

/** `held`: in the call before as well, and nobody knows whether the cache served it. */
export type CellState = "cached" | "again" | "new" | "held"

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

/** All cells, merged over neighbouring calls that paid for a piece in the same way. */
export function strataCells(data: StrataData): Cell[] {
  const wasHeld = heldBefore(data)
  const cells: Cell[] = []
  for (const band of data.bands) {
    const [piece, from, to, offset, tokens] = band
    const bottom = offset + tokens
    let open: { state: CellState; from: number; top: number; bottom: number }[] = []
    for (let call = from; call <= to; call += 1) {
      const now = cutBand(data.calls[call]!, offset, bottom, wasHeld(piece, call))
      const isSame =
        now.length === open.length && now.every((one, at) => one.state === open[at]!.state && one.top === open[at]!.top)
      if (isSame) continue
      for (const one of open)
        cells.push({ piece, state: one.state, from: one.from, to: call - 1, top: one.top, bottom: one.bottom })
      open = now.map((one) => ({ ...one, from: call }))
    }
    for (const one of open)
      cells.push({ piece, state: one.state, from: one.from, to, top: one.top, bottom: one.bottom })
  }
  return cells
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

function cutBand(
  call: StrataCall,
  top: number,
  bottom: number,
  isHeld: boolean,
): { state: CellState; top: number; bottom: number }[] {
  const rest: CellState = !isHeld ? "new" : call.cache_read === null ? "held" : "again"
  const line = Math.min(bottom, Math.max(top, call.cache_read ?? 0))
  const cut: { state: CellState; top: number; bottom: number }[] = []
  if (line > top) cut.push({ state: "cached", top, bottom: line })
  if (bottom > line) cut.push({ state: rest, top: line, bottom })
  return cut
}

/** Whether the call before held a piece, wherever it stood there. */
function heldBefore(data: StrataData): (piece: number, call: number) => boolean {
  const rows = new Map<number, Band[]>()
  for (const band of data.bands) {
    const known = rows.get(band[0])
    if (known) known.push(band)
    else rows.set(band[0], [band])
  }
  return (piece, call) => call > 0 && rows.get(piece)!.some(([, from, to]) => from <= call - 1 && call - 1 <= to)
}
