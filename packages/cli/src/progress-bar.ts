import { formatCount, formatDuration, padToWidth, safeLine } from "@orangebox/text"
import type { OutputStream } from "./terminal.js"

export interface ProgressBar {
  /** Takes what the libraries report. The first report begins the bar. */
  readonly update: (done: number, total: number | undefined, what: string) => void
  /** Ends it and leaves no trace of it. */
  clear(): void
}

/** Work that takes less is over before anybody wonders. */
const SILENT_MS = 1000
const REDRAW_MS = 200
const CELLS = 24

/** Drawn over one line of a terminal's stderr while work goes on; on anything else it is not there. */
export function progressBar(stderr: OutputStream): ProgressBar {
  if (stderr.isTTY !== true) return { update: () => {}, clear: () => {} }
  let work: { readonly startedAt: number; readonly timer: NodeJS.Timeout } | undefined
  let drawnAt = 0
  let state: Parameters<ProgressBar["update"]>
  const draw = (): void => {
    const now = performance.now()
    if (work === undefined || now - work.startedAt < SILENT_MS || now - drawnAt < REDRAW_MS) return
    drawnAt = now
    stderr.write(`\r\u001b[2K${barText(...state, now - work.startedAt)}`)
  }
  return {
    update(...reported) {
      state = reported
      // Some work reports seldom; that it is still going on is worth a line too.
      work ??= { startedAt: performance.now(), timer: setInterval(draw, REDRAW_MS).unref() }
      draw()
    },
    clear() {
      clearInterval(work?.timer)
      work = undefined
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
