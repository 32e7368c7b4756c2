import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import { type Band, bandsOfCall, breakWords, type StrataData, strataCells } from "../model/strata-cells.js"
import { theme } from "../state.js"
import { DARK, LIGHT } from "../tokens.js"
import {
  drawSelection,
  drawStrata,
  pointAt,
  type StrataLayout,
  type StrataPicture,
  strataLayout,
} from "./draw-strata.js"
import { Line } from "./recorded.js"

/** From this many calls on there is an overview of all and a detail of some. */
export const MANY_CALLS = 60
const BRUSHED = 30

/** What `/runs/{id}/strata` answers. */
export interface StrataAnswer extends StrataData {
  readonly lane: string
  readonly lanes: readonly { readonly lane: string; readonly calls: number }[]
  readonly total_bands: number
  readonly merged: boolean
  /** All that was sent again at full price, and why, in a sentence. */
  readonly again: { readonly tokens: number; readonly calls: readonly number[]; readonly says: string } | null
}

export const strataPicture = (data: StrataData): StrataPicture => ({ data, cells: strataCells(data) })

/** The greatest number of tokens a call sent or was answered with: the lower edge of the scale. */
export const mostTokensOf = ({ calls, bands }: StrataData): number =>
  Math.max(
    1,
    ...calls.map(({ tokens, output_tokens, dropped }) => tokens + Math.max(output_tokens ?? 0, dropped?.tokens ?? 0)),
    ...bands.map(([, , , offset, tokens]) => offset + tokens),
  ) * 1.04

/** The lower edge for some of the calls: the brush is there to look closely. */
function mostIn({ calls }: StrataData, { from, to }: { from: number; to: number }): number {
  const shown = calls.slice(from, to + 1)
  return (
    1.04 *
    Math.max(
      1,
      ...shown.map(({ tokens, output_tokens, dropped }) => tokens + Math.max(output_tokens ?? 0, dropped?.tokens ?? 0)),
    )
  )
}

interface Props {
  readonly picture: StrataPicture
  readonly selected: number | null
  readonly most?: number
  readonly label: string
  readonly onSelect: (call: number) => void
}

/** All calls, or the overview and the brushed ones. */
export function Strata({ picture, selected, most = mostTokensOf(picture.data), label, onSelect }: Props) {
  const count = picture.data.calls.length
  const [chosen, setBrush] = useState<{ from: number; to: number } | null>(null)
  const followed = useRef(selected)
  if (count <= MANY_CALLS)
    return (
      <Drawing
        picture={picture}
        calls={{ from: 0, to: count - 1 }}
        most={most}
        selected={selected}
        label={label}
        onSelect={onSelect}
      />
    )

  const around = (call: number) => {
    const from = Math.max(0, Math.min(count - BRUSHED, call - BRUSHED / 2))
    return { from, to: Math.min(count - 1, from + BRUSHED - 1) }
  }
  let brush = chosen ?? around(selected ?? count - 1)
  // The brush goes along with the selection when it leaves it.
  if (selected !== null && selected !== followed.current && (selected < brush.from || selected > brush.to))
    brush = around(selected)
  followed.current = selected
  return (
    <>
      <Drawing
        picture={picture}
        calls={{ from: 0, to: count - 1 }}
        most={most}
        selected={null}
        brush={brush}
        label={`${label}: all ${count} calls`}
        onSelect={(call) => {
          setBrush(around(call))
          onSelect(call)
        }}
        onBrush={setBrush}
      />
      <p class="strata-head">
        <b>
          Calls {brush.from + 1}–{brush.to + 1}
        </b>
        <span class="quiet">the brush above; drag there to move it</span>
      </p>
      <Drawing
        picture={picture}
        calls={brush}
        most={mostIn(picture.data, brush)}
        selected={selected}
        label={`${label}: calls ${brush.from + 1} to ${brush.to + 1}`}
        onSelect={onSelect}
      />
    </>
  )
}

function Drawing(props: {
  picture: StrataPicture
  calls: { from: number; to: number }
  most: number
  selected: number | null
  brush?: { from: number; to: number }
  label: string
  onSelect: (call: number) => void
  onBrush?: (brush: { from: number; to: number }) => void
}) {
  const { picture, calls, most, selected, brush, label, onSelect, onBrush } = props
  const frame = useRef<HTMLDivElement>(null)
  const drawn = useRef<HTMLCanvasElement>(null)
  const over = useRef<HTMLCanvasElement>(null)
  const [size, setSize] = useState({ width: 0, height: 0 })
  const [tip, setTip] = useState<{ x: number; y: number; call: number; band: Band | null } | null>(null)
  const dragged = useRef<number | null>(null)
  const colours = theme.value === "light" ? LIGHT : DARK

  useLayoutEffect(() => {
    const element = frame.current!
    const measure = () => setSize({ width: element.clientWidth, height: element.clientHeight })
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  const layout: StrataLayout = useMemo(
    () => strataLayout(size, calls, most, brush !== undefined),
    [size, calls.from, calls.to, most, brush === undefined],
  )
  const ratio = globalThis.devicePixelRatio || 1
  useLayoutEffect(() => {
    if (size.width === 0) return
    performance.mark("strata-begin")
    fitCanvas(drawn.current!, size, ratio)
    drawStrata(drawn.current!.getContext("2d")!, picture, layout, colours, ratio)
    performance.measure("strata-draw", "strata-begin")
  }, [picture, layout, colours, ratio])
  useLayoutEffect(() => {
    if (size.width === 0) return
    fitCanvas(over.current!, size, ratio)
    drawSelection(over.current!.getContext("2d")!, picture.data, layout, colours, ratio, selected, brush ?? null)
  }, [picture, layout, colours, ratio, selected, brush?.from, brush?.to])

  const at = (event: PointerEvent) => {
    const { left, top } = frame.current!.getBoundingClientRect()
    const x = event.clientX - left
    const y = event.clientY - top
    return { x, y, point: pointAt(layout, x, y) }
  }
  return (
    <div class="strata-draw">
      <div class="strata-scroll" ref={frame} style={{ height: "100%", position: "relative" }}>
        <canvas
          ref={drawn}
          role="img"
          aria-label={label}
          onPointerDown={(event) => {
            const { point } = at(event)
            if (!point || !onBrush) return
            dragged.current = point.call
            event.currentTarget.setPointerCapture(event.pointerId)
          }}
          onPointerMove={(event) => {
            const { x, y, point } = at(event)
            if (dragged.current !== null && point && onBrush) {
              const [from, to] = [dragged.current, point.call].sort((a, b) => a - b)
              if (to! - from! >= 2) onBrush({ from: from!, to: to! })
              return
            }
            const band = point
              ? (bandsOfCall(picture.data, point.call).find(
                  ([, , , offset, tokens]) => offset <= point.offset && point.offset < offset + tokens,
                ) ?? null)
              : null
            setTip(point ? { x, y, call: point.call, band } : null)
          }}
          onPointerUp={(event) => {
            const { point } = at(event)
            if (point && (dragged.current === null || Math.abs(dragged.current - point.call) < 2)) onSelect(point.call)
            dragged.current = null
          }}
          onPointerLeave={() => setTip(null)}
        />
        <canvas ref={over} class="over" role="img" aria-label="what is selected" />
        {tip && <Tip picture={picture} {...tip} width={size.width} />}
      </div>
    </div>
  )
}

function Tip({
  picture,
  x,
  y,
  call,
  band,
  width,
}: {
  picture: StrataPicture
  x: number
  y: number
  call: number
  band: Band | null
  width: number
}) {
  const { n, tokens, broke } = picture.data.calls[call]!
  const piece = band ? picture.data.pieces[band[0]]! : null
  return (
    <div
      class="strata-tip"
      style={{ left: `${Math.min(x + 12, Math.max(0, width - 300))}px`, top: `${y + 14}px` }}
      aria-hidden="true"
    >
      <b class="mono">#{n}</b> {Math.round(tokens).toLocaleString("en")} tokens
      {piece && band && (
        <div>
          <Line text={piece.label} /> · {Math.round(band[4]).toLocaleString("en")} tokens at{" "}
          {Math.round(band[3]).toLocaleString("en")} · in{" "}
          {band[1] === band[2]
            ? `#${picture.data.calls[band[1]]!.n} alone`
            : `#${picture.data.calls[band[1]]!.n} to #${picture.data.calls[band[2]]!.n}`}
          {piece.is_error && <span class="bad"> · failed</span>}
        </div>
      )}
      {broke && (
        <div class="warn">
          broke at {Math.round(broke.offset).toLocaleString("en")}:{" "}
          <Line text={breakWords(broke, picture.data.pieces)} />
        </div>
      )}
    </div>
  )
}

/** As many pixels as the screen has. */
function fitCanvas(
  canvas: HTMLCanvasElement,
  { width, height }: { width: number; height: number },
  ratio: number,
): void {
  const [wide, tall] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))]
  if (canvas.width !== wide) canvas.width = wide
  if (canvas.height !== tall) canvas.height = tall
}
