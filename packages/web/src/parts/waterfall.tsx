import { formatDuration } from "@orangebox/text"
import { isTrouble, type RunRow } from "../model/run-rows.js"
import type { TimeScale } from "../model/time-scale.js"
import { kindClass } from "./tree-grid.js"

const share = (part: number): string => `${(part * 100).toFixed(3)}%`

/** Round moments above the bars, and where idle time was left out. Ctrl and the wheel zoom at the pointer. */
export function TimeHead({
  scale,
  endMicros,
  onZoom,
}: {
  scale: TimeScale
  endMicros: number
  onZoom: (by: number, at: number) => void
}) {
  const isNear = (at: number): boolean => at < 0.12 || at > 0.66
  return (
    <span
      class="ticks"
      role="columnheader"
      aria-label="when"
      onWheel={(event) => {
        if (!event.ctrlKey) return
        event.preventDefault()
        const { left, width } = event.currentTarget.getBoundingClientRect()
        onZoom(event.deltaY > 0 ? 1.25 : 0.8, (event.clientX - left) / width)
      }}
    >
      <span>0</span>
      {scale.ticks
        .filter(({ at }) => !isNear(at))
        .map(({ at, micros }) => (
          <span key={micros} style={{ left: share(at) }}>
            {tickWords(micros)}
          </span>
        ))}
      <span class="last">{formatDuration(endMicros)}</span>
    </span>
  )
}

/** Round moments and cuts as lines behind all rows: one each, and not one a row. */
export function TickLines({ scale }: { scale: TimeScale }) {
  return (
    <div class="tick-lines" aria-hidden="true">
      {scale.ticks.map(({ at, micros }) => (
        <u key={micros} style={{ left: share(at) }} />
      ))}
      {scale.cuts.map(({ at, micros }) => (
        <u key={micros} class="idle" style={{ left: share(at) }} />
      ))}
    </div>
  )
}

/** One step's time. Open steps grow until now; what failed is red and says so elsewhere in words. */
export function Bars({ row, scale, now }: { row: RunRow; scale: TimeScale; now: number }) {
  const isOpen = row.durationMicros === null
  const start = row.startMicros
  const end = start === null ? null : isOpen ? now : start + row.durationMicros!
  const left = start === null ? 0 : scale.at(start)
  const right = end === null ? left : Math.max(left, scale.at(end))
  return (
    <span class="bars" role="gridcell" aria-hidden="true">
      {start !== null && right >= 0 && left <= 1 && (
        <i
          class={`${kindClass(row)} ${isTrouble(row.status) ? "bad" : ""} ${isOpen ? "open" : ""}`}
          style={{ left: share(Math.max(0, left)), width: share(Math.min(1, right) - Math.max(0, left)) }}
        />
      )}
    </span>
  )
}

/** Ticks are round, so tenths would be noise. */
function tickWords(micros: number): string {
  const seconds = micros / 1e6
  return seconds >= 1 && seconds < 60 && Number.isInteger(seconds) ? `${seconds} s` : formatDuration(micros)
}
