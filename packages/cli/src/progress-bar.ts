import { formatCount, formatDuration, padToWidth, safeLine } from "@orangebox/text"
import type { OutputStream } from "./terminal.js"

export interface ProgressBar {
  /** Takes what the libraries report. */
  readonly update: (done: number, total: number | undefined, what: string) => void
  /** Leaves no trace of the bar. */
  clear(): void
}

/** Work that takes less is over before anybody wonders. */
const SILENT_MS = 1000
const REDRAW_MS = 200
const CELLS = 24

/** Drawn over one line of a terminal's stderr while work goes on; on anything else it is not there. */
export function progressBar(stderr: OutputStream, what: string): ProgressBar {
  if (stderr.isTTY !== true) return { update: () => {}, clear: () => {} }
  const startedAt = performance.now()
  let drawnAt = 0
  let state: Parameters<ProgressBar["update"]> = [0, undefined, what]
  const draw = (): void => {
    const now = performance.now()
    if (now - startedAt < SILENT_MS || now - drawnAt < REDRAW_MS) return
    drawnAt = now
    stderr.write(`\r\u001b[2K${barText(...state, now - startedAt)}`)
  }
  // Some work reports seldom; that it is still going on is worth a line too.
  const timer = setInterval(draw, REDRAW_MS).unref()
  return {
    update(...reported) {
      state = reported
      draw()
    },
    clear() {
      clearInterval(timer)
      if (drawnAt > 0) stderr.write("\r\u001b[2K")
      drawnAt = 0
    },
  }
}

export function barText(done: number, total: number | undefined, what: string, elapsedMs: number): string {
  const label = padToWidth(safeLine(what), 16)
  const time = formatDuration(elapsedMs * 1000)
  if (total === undefined || total <= 0) return `${label} ${done === 0 ? "…" : formatCount(done)}  ${time}`
  const share = Math.min(1, Math.max(0, done / total))
  const full = Math.round(share * CELLS)
  const bar = "█".repeat(full) + "░".repeat(CELLS - full)
  return `${label} ${bar} ${Math.floor(share * 100)} %  ${formatCount(done)} of ${formatCount(total)}  ${time}`
}
