// One picture of what the model saw, call by call, on a canvas. No numbers are worked out here but pixels.
import { formatPercent } from "@orangebox/text"
import { rasterCells } from "../model/raster-cells.js"
import {
  about,
  breakRows,
  CELL_STATES,
  type Cell,
  type CellState,
  type StrataData,
  tokenTicks,
  worstCalls,
} from "../model/strata-cells.js"
import { safeWords } from "../model/visible-text.js"
import { type Colours, hueOf } from "../tokens.js"

const SANS = 'system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif'
const MONO = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace'

export interface StrataLayout {
  /** Of the drawing, in CSS pixels. */
  readonly width: number
  readonly height: number
  /** Where columns and prompts begin. */
  readonly left: number
  readonly top: number
  readonly columnWidth: number
  readonly gap: number
  /** The calls that are drawn. */
  readonly from: number
  readonly to: number
  /** Tokens at the lower edge. */
  readonly most: number
  readonly bottom: number
}

const WIDEST_COLUMN = 172
/** Columns from this width on are named; from `GAPPED` on there is room between them. */
export const NAMED = 60
const GAPPED = 12

export function strataLayout(
  size: { width: number; height: number },
  calls: { from: number; to: number },
  most: number,
  isPlain: boolean,
): StrataLayout {
  const count = calls.to - calls.from + 1
  const left = isPlain ? 52 : 104
  const columnWidth = Math.min(WIDEST_COLUMN, Math.max(0.01, (size.width - left - 6) / count))
  return {
    ...size,
    ...calls,
    left: columnWidth >= NAMED ? left : 52,
    top: columnWidth >= NAMED ? 26 : 10,
    columnWidth: columnWidth >= NAMED ? columnWidth : Math.min(WIDEST_COLUMN, (size.width - 58) / count),
    gap: columnWidth > GAPPED ? 3 : columnWidth > 5 ? 1 : 0,
    most: Math.max(1, most),
    bottom: 14,
  }
}

export const placeOf = (layout: StrataLayout, tokens: number): number =>
  layout.top + (tokens / layout.most) * (layout.height - layout.top - layout.bottom)

/** The call and the token offset under a point, or null beside the columns. */
export function pointAt(layout: StrataLayout, x: number, y: number): { call: number; offset: number } | null {
  const call = layout.from + Math.floor((x - layout.left) / layout.columnWidth)
  if (x < layout.left || call > layout.to) return null
  return { call, offset: ((y - layout.top) / (layout.height - layout.top - layout.bottom)) * layout.most }
}

export interface StrataPicture {
  readonly data: StrataData
  readonly cells: readonly Cell[]
}

export function drawStrata(
  context: CanvasRenderingContext2D,
  { data, cells }: StrataPicture,
  layout: StrataLayout,
  colours: Colours,
  ratio: number,
): void {
  const { width, height, left, columnWidth, gap, from, to } = layout
  const y = (tokens: number): number => placeOf(layout, tokens)
  const x = (call: number): number => left + (call - from) * columnWidth
  const wide = columnWidth - gap
  const isNamed = columnWidth >= NAMED
  context.setTransform(ratio, 0, 0, ratio, 0, 0)
  context.fillStyle = colours.bg1
  context.fillRect(0, 0, width, height)
  context.textBaseline = "middle"

  // the scale
  context.font = `11px ${MONO}`
  context.textAlign = "left"
  for (const tick of tokenTicks(layout.most)) {
    const at = Math.round(y(tick))
    context.fillStyle = colours.line
    context.fillRect(44, at, width - 44, 1)
    context.fillStyle = colours.fg2
    context.fillText(tick >= 1000 ? `${tick / 1000}k` : String(tick), 12, at + 0.5)
  }

  if (gap === 0) drawNarrow(context, data, cells, layout, colours, ratio)
  else {
    const fills = fillsFor(context, colours, ratio)
    for (const cell of cells) {
      if (cell.to < from || cell.from > to) continue
      const upper = y(cell.top)
      const tall = Math.max(0.4, y(cell.bottom) - upper)
      context.fillStyle = fills(data.pieces[cell.piece]!.kind, cell.state)
      for (let call = Math.max(cell.from, from); call <= Math.min(cell.to, to); call += 1)
        context.fillRect(x(call), upper, wide, tall)
    }
  }

  // edges between pieces, and a red one at what a tool said had failed
  if (columnWidth > 30) {
    for (const [piece, first, last, offset, tokens] of data.bands) {
      if (last < from || first > to) continue
      const upper = y(offset)
      const lower = y(offset + tokens)
      for (let call = Math.max(first, from); call <= Math.min(last, to); call += 1) {
        if (lower - upper > 4) {
          context.fillStyle = colours.bg1
          context.fillRect(x(call), lower - 0.5, wide, 1)
        }
        if (data.pieces[piece]!.is_error) {
          context.fillStyle = colours.error
          context.fillRect(x(call), upper, 3, lower - upper)
        }
      }
    }
  }
  if (isNamed) nameBands(context, data, layout, colours, y, x)

  // the cache line
  context.strokeStyle = colours.cache
  context.lineWidth = columnWidth > 5 ? 2 : 1
  context.beginPath()
  for (let call = from; call <= to; call += 1) {
    const read = data.calls[call]!.cache_read
    if (read === null || columnWidth < 1) continue
    // A line that is only about there is broken.
    const dash = about(data.calls[call]!) !== "" && columnWidth > GAPPED ? 6 : wide
    for (let at = 0; at < wide; at += dash * 1.5) {
      context.moveTo(x(call) + at, y(read))
      context.lineTo(x(call) + Math.min(wide, at + dash), y(read))
    }
  }
  context.stroke()

  // The budget, where somebody set one and it is in the picture.
  context.fillStyle = colours.fg1
  for (let call = from; call <= to; call += 1) {
    const budget = data.calls[call]!.token_budget
    if (budget !== null && budget <= layout.most && columnWidth >= 2) context.fillRect(x(call), y(budget), wide, 1)
  }

  // What the provider holds for the conversation: a block of unknown height.
  context.font = `600 12px ${MONO}`
  context.textAlign = "center"
  for (let call = from; call <= to; call += 1) {
    if (data.calls[call]!.held_by_provider === null || columnWidth < 8) continue
    context.strokeStyle = colours.fg2
    context.lineWidth = 1
    context.setLineDash([1, 3])
    context.strokeRect(x(call) + 0.5, layout.top - 8, wide - 1, 8)
    context.setLineDash([])
    context.fillStyle = colours.fg1
    context.fillText("?", x(call) + wide / 2, layout.top - 4)
  }

  drawBreaks(context, data, layout, colours, y, x)
  drawDropped(context, data, layout, colours, y, x)

  // heads of columns, and the answer, which hangs under its column and is a band of the next one
  if (!isNamed) return
  for (let call = from; call <= to; call += 1) {
    const { n, tokens, cache_read, output_tokens } = data.calls[call]!
    context.textAlign = "left"
    context.font = `600 12px ${MONO}`
    context.fillStyle = colours.fg0
    context.fillText(`#${n}`, x(call) + 2, 12)
    const named = context.measureText(`#${n}`).width + 14
    context.font = `11px ${MONO}`
    context.fillStyle = colours.fg1
    context.fillText(Math.round(tokens).toLocaleString("en"), x(call) + Math.max(40, named), 12)
    context.textAlign = "right"
    context.fillStyle = cache_read ? colours.cache : colours.fg2
    const cached =
      cache_read === null || !tokens ? "? %" : `${about(data.calls[call]!)}${formatPercent(cache_read, tokens)}`
    if (columnWidth > 112) context.fillText(columnWidth > 160 ? `${cached} cached` : cached, x(call) + wide - 6, 12)
    if (output_tokens !== null) {
      context.strokeStyle = colours.model
      context.lineWidth = 1
      context.setLineDash([3, 2])
      const upper = y(tokens)
      context.strokeRect(x(call) + 0.5, upper + 2.5, wide - 1, Math.max(4, y(tokens + output_tokens) - upper - 2))
      context.setLineDash([])
    }
  }
}

/** Columns without gaps, in one piece of memory. */
function drawNarrow(
  context: CanvasRenderingContext2D,
  data: StrataData,
  cells: readonly Cell[],
  layout: StrataLayout,
  colours: Colours,
  ratio: number,
): void {
  const { width, height, left } = layout
  const image = context.createImageData(
    Math.max(1, Math.round((width - left) * ratio)),
    Math.max(1, Math.round(height * ratio)),
  )
  const raster = { width: image.width, height: image.height, pixels: new Uint32Array(image.data.buffer) }
  const row = (tokens: number): number => placeOf(layout, tokens) * ratio
  raster.pixels.fill(pixelOf(colours.bg1))
  for (const tick of tokenTicks(layout.most)) {
    const at = Math.round(placeOf(layout, tick)) * ratio
    raster.pixels.fill(pixelOf(colours.line), at * raster.width, (at + Math.ceil(ratio)) * raster.width)
  }
  const colourOf = new Uint32Array(data.pieces.length * CELL_STATES.length)
  const known = new Map<string, readonly number[]>()
  data.pieces.forEach(({ kind }, piece) => {
    const ofKind =
      known.get(kind) ?? CELL_STATES.map((state) => pixelOf(mix(colours[hueOf(kind)], colours.bg1, PARTS[state])))
    known.set(kind, ofKind)
    colourOf.set(ofKind, piece * CELL_STATES.length)
  })
  rasterCells(raster, cells, edgesOf(data, layout, ratio), row, colourOf)
  context.putImageData(image, Math.round(left * ratio), 0)
}

/** Where the calls begin, in pixels of the screen from the first column on. Where there are more calls than pixels, a pixel is given to the call that lost most. */
function edgesOf({ calls }: StrataData, layout: StrataLayout, ratio: number): Int32Array {
  const { width, left, columnWidth, from, to } = layout
  const edges = new Int32Array(calls.length + 1)
  if (columnWidth >= 1) {
    for (let call = 0; call <= calls.length; call += 1)
      edges[call] = Math.round((Math.min(Math.max(call, from), to + 1) - from) * columnWidth * ratio)
    return edges
  }
  const columns = Math.max(1, Math.round((width - left - 6) * ratio))
  const shown = worstCalls(
    calls.slice(from, to + 1).map(({ again }) => again ?? 0),
    columns,
  )
  let column = 0
  for (let call = 0; call <= calls.length; call += 1) {
    while (column < columns && shown[column]! + from < call) column += 1
    edges[call] = column
  }
  return edges
}

/** Where one is: drawn over the picture, so that moving costs nothing. */
export function drawSelection(
  context: CanvasRenderingContext2D,
  data: StrataData,
  layout: StrataLayout,
  colours: Colours,
  ratio: number,
  selected: number | null,
  brush: { from: number; to: number } | null,
): void {
  const { width, height, left, columnWidth, gap, from, to } = layout
  context.setTransform(ratio, 0, 0, ratio, 0, 0)
  context.clearRect(0, 0, width, height)
  context.strokeStyle = colours.accent
  context.lineWidth = 2
  if (brush) {
    const start = left + brush.from * columnWidth
    context.strokeRect(
      start - 1,
      layout.top - 4,
      (brush.to - brush.from + 1) * columnWidth + 2,
      height - layout.top - layout.bottom + 8,
    )
  }
  if (selected === null || selected < from || selected > to || brush) return
  const start = left + (selected - from) * columnWidth
  const lower = placeOf(layout, data.calls[selected]!.tokens)
  context.strokeRect(start - 1.5, layout.top - 3, Math.max(3, columnWidth - gap) + 3, lower - layout.top + 5)
  if (columnWidth < NAMED) return
  context.font = `700 12px ${MONO}`
  context.textBaseline = "middle"
  context.fillStyle = colours.bg1
  const name = `#${data.calls[selected]!.n}`
  context.fillRect(start + 1, 4, context.measureText(name).width + 2, 16)
  context.fillStyle = colours.accent
  context.fillText(name, start + 2, 12)
}

type Place = (value: number) => number

function nameBands(
  context: CanvasRenderingContext2D,
  data: StrataData,
  layout: StrataLayout,
  colours: Colours,
  y: Place,
  x: Place,
): void {
  const { from, to, columnWidth } = layout
  context.font = `600 11px ${SANS}`
  context.textAlign = "left"
  for (const [piece, first, last, offset, tokens] of data.bands) {
    const tall = y(offset + tokens) - y(offset)
    // The bands of the first call have their names at its left.
    if (tall < 11 || last < from || first > to || first === 0) continue
    const call = data.calls[first]!
    if (first < from || (call.cache_read ?? 0) > offset) continue
    context.fillStyle = colours.bg0
    context.fillText(
      cutTo(context, data.pieces[piece]!.label, columnWidth - 18),
      x(first) + 8,
      y(offset) + tall / 2 + 0.5,
    )
  }
  if (from !== 0) return
  const groups: { kind: string; label: string; upper: number; lower: number; count: number }[] = []
  for (const [piece, first, , offset, tokens] of [...data.bands].sort((a, b) => a[3] - b[3])) {
    if (first !== 0) continue
    const { kind, label } = data.pieces[piece]!
    const group = groups.at(-1)
    if (group && group.kind === kind) {
      group.lower = offset + tokens
      group.count += 1
    } else groups.push({ kind, label, upper: offset, lower: offset + tokens, count: 1 })
  }
  context.font = `11px ${SANS}`
  context.textAlign = "right"
  let last = -99
  for (const { kind, label, upper, lower, count } of groups.slice(0, 12)) {
    const middle = (y(upper) + y(lower)) / 2
    const at = Math.max(middle, last + 13)
    last = at
    const hue = colours[hueOf(kind)]
    context.fillStyle = hue
    context.strokeStyle = hue
    context.lineWidth = 1
    context.fillText(
      cutTo(context, count > 1 ? `${count} ${kindWord(kind, count)}` : kindWord(kind, 1) || label, 78),
      layout.left - 14,
      at,
    )
    context.beginPath()
    context.moveTo(layout.left - 11, at)
    context.lineTo(layout.left - 2, middle)
    context.stroke()
  }
}

function drawBreaks(
  context: CanvasRenderingContext2D,
  data: StrataData,
  layout: StrataLayout,
  colours: Colours,
  y: Place,
  x: Place,
): void {
  const { from, to, columnWidth, gap } = layout
  const named: { left: number; right: number; at: number }[] = []
  for (const row of breakRows(data)) {
    if (row.to < from || row.from > to) continue
    const start = x(Math.max(row.from, from))
    context.fillStyle = colours.warn
    for (let call = Math.max(row.from, from); call <= Math.min(row.to, to); call += 1)
      context.fillRect(x(call), y(data.calls[call]!.broke!.offset) - 1, Math.max(1, columnWidth - gap), 2)
    const at = y(row.offset)
    context.beginPath()
    context.moveTo(start - 1, at)
    context.lineTo(start - 8, at - 5)
    context.lineTo(start - 8, at + 5)
    context.fill()
    context.font = `600 11px ${SANS}`
    context.textAlign = "left"
    const words = cutTo(context, row.words, 420)
    const wide = context.measureText(words).width + 12
    const boxLeft = Math.min(start + 4, layout.width - wide - 4)
    const boxTop = Math.max(2, at - 21)
    // Labels that would lie on one another are left to the table and to the tip.
    if (named.some((one) => one.left < boxLeft + wide && boxLeft < one.right && Math.abs(one.at - boxTop) < 18))
      continue
    named.push({ left: boxLeft, right: boxLeft + wide, at: boxTop })
    context.fillStyle = colours.bg0
    context.fillRect(boxLeft, boxTop, wide, 17)
    context.strokeStyle = colours.warn
    context.lineWidth = 1
    context.strokeRect(boxLeft + 0.5, boxTop + 0.5, wide - 1, 16)
    context.fillStyle = colours.warn
    context.fillText(words, boxLeft + 6, boxTop + 9)
  }
}

function drawDropped(
  context: CanvasRenderingContext2D,
  data: StrataData,
  layout: StrataLayout,
  colours: Colours,
  y: Place,
  x: Place,
): void {
  const { from, to, columnWidth, gap } = layout
  let free = 0
  for (let call = from; call <= to; call += 1) {
    const { dropped, tokens } = data.calls[call]!
    if (!dropped || columnWidth < 2) continue
    const upper = y(tokens)
    const lower = Math.min(layout.height - 2, y(tokens + dropped.tokens))
    context.strokeStyle = colours.fg2
    context.lineWidth = 1
    context.setLineDash([2, 3])
    context.strokeRect(x(call) + 0.5, upper + 4, Math.max(3, columnWidth - gap - 1), Math.max(2, lower - upper - 4))
    context.setLineDash([])
    context.font = `600 11px ${SANS}`
    context.textAlign = "left"
    context.fillStyle = colours.fg0
    // A few tokens are told by the table; labels that would lie on one another as well.
    if (dropped.tokens < layout.most * 0.03) continue
    const words = `−${shortTokens(dropped.tokens)}: ${dropped.why.replaceAll("_", " ")}, ${dropped.pieces} pieces (inferred)`
    const wide = context.measureText(words).width
    const left = Math.min(x(call) + columnWidth + 6, layout.width - wide - 4)
    if (left < free) continue
    free = left + wide + 8
    context.fillText(words, left, Math.min(layout.height - 8, lower - 8))
  }
}

const shortTokens = (tokens: number): string =>
  tokens >= 1000 ? `${Math.round(tokens / 1000)}k` : String(Math.round(tokens))

/** What a kind is called in a legend. */
export const KIND_NAMES: Readonly<Record<string, string>> = {
  "tool-def": "tool definitions",
  persona: "system prompt",
  system: "system prompt",
  "user-msg": "user",
  "assistant-msg": "assistant",
  "tool-result": "tool results",
  "tool-call": "tool calls",
}

/** What many pieces of a kind are called together. */
export function kindWord(kind: string, count: number): string {
  const words: Readonly<Record<string, readonly [string, string]>> = {
    "tool-def": ["tool", "tools"],
    persona: ["system", "system"],
    system: ["system", "system"],
    "user-msg": ["user", "user"],
    user: ["user", "user"],
    "assistant-msg": ["assistant", "assistant"],
    assistant: ["assistant", "assistant"],
    "tool-result": ["tool result", "tool results"],
    "tool-call": ["call", "calls"],
    skill: ["skill", "skills"],
    evidence: ["evidence", "evidence"],
  }
  return words[kind]?.[count === 1 ? 0 : 1] ?? kind.replaceAll(/[-_]/g, " ")
}

function cutTo(context: CanvasRenderingContext2D, text: string, width: number): string {
  let cut = safeWords(text, 120)
  while (cut.length > 3 && context.measureText(cut).width > width) cut = `${cut.slice(0, -2)}…`
  return cut
}

/** How much of its hue a cell has. Columns too narrow for a hatch show what was paid again in nearly full hue. */
const PARTS: Readonly<Record<CellState, number>> = { cached: 0.26, held: 0.55, again: 0.95, new: 1 }

/** Fills by kind and state, made once each. */
function fillsFor(
  context: CanvasRenderingContext2D,
  colours: Colours,
  ratio: number,
): (kind: string, state: CellState) => string | CanvasPattern {
  const known = new Map<string, string | CanvasPattern>()
  return (kind, state) => {
    const hue = colours[hueOf(kind)]
    const key = `${hue} ${state}`
    let fill = known.get(key)
    if (fill === undefined) {
      if (state === "again") fill = hatch(context, hue, colours.bg1, ratio)
      else fill = `#${hexOf(mix(hue, colours.bg1, PARTS[state]))}`
      known.set(key, fill)
    }
    return fill
  }
}

function hatch(context: CanvasRenderingContext2D, hue: string, ground: string, ratio: number): CanvasPattern | string {
  const size = Math.round(6 * ratio)
  const tile = document.createElement("canvas")
  tile.width = size
  tile.height = size
  const pen = tile.getContext("2d")!
  pen.fillStyle = `#${hexOf(mix(hue, ground, 0.3))}`
  pen.fillRect(0, 0, size, size)
  pen.strokeStyle = `#${hexOf(mix(hue, ground, 0.86))}`
  pen.lineWidth = 1.5 * ratio
  pen.beginPath()
  for (const from of [-size, 0, size]) {
    pen.moveTo(from, size)
    pen.lineTo(from + size, 0)
  }
  pen.stroke()
  const pattern = context.createPattern(tile, "repeat")
  pattern?.setTransform(new DOMMatrix().scale(1 / ratio))
  return pattern ?? hue
}

type Rgb = readonly number[]

function mix(one: string, other: string, part: number): Rgb {
  const [a, b] = [rgbOf(one), rgbOf(other)]
  return a.map((value, at) => Math.round(value * part + b[at]! * (1 - part)))
}

const rgbOf = (colour: string): Rgb => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16))
const hexOf = (rgb: Rgb): string => rgb.map((value) => value.toString(16).padStart(2, "0")).join("")

/** A pixel as a canvas keeps it, on machines that begin numbers with their small end, which browsers run on. */
function pixelOf(colour: string | Rgb): number {
  const [red, green, blue] = typeof colour === "string" ? rgbOf(colour) : colour
  return ((255 << 24) | (blue! << 16) | (green! << 8) | red!) >>> 0
}
