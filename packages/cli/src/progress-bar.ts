import { formatCount, padToWidth, safeLine } from "@orangebox/query"
import type { OutputStream } from "./terminal.js"

export interface ProgressBar {
  /** Takes what the libraries report; draws only when the work has lasted long enough to be worth it. */
  readonly update: (done: number, total: number | undefined, what: string) => void
  /** Leaves no trace of the bar. */
  clear(): void
}

const SILENT_MS = 1000
const REDRAW_MS = 100
const CELLS = 24

/** Drawn over one line of a terminal's stderr; on anything else it is not there. */
export function progressBar(stderr: OutputStream): ProgressBar {
  if (stderr.isTTY !== true) return { update: () => {}, clear: () => {} }
  const startedAt = performance.now()
  let drawnAt = 0
  return {
    update(done, total, what) {
      const now = performance.now()
      if (now - startedAt < SILENT_MS || now - drawnAt < REDRAW_MS) return
      drawnAt = now
      stderr.write(`\r\u001b[2K${barText(done, total, what)}`)
    },
    clear() {
      if (drawnAt > 0) stderr.write("\r\u001b[2K")
      drawnAt = 0
    },
  }
}

export function barText(done: number, total: number | undefined, what: string): string {
  const label = padToWidth(safeLine(what), 16)
  if (total === undefined || total <= 0) return `${label} ${formatCount(done)}`
  const share = Math.min(1, Math.max(0, done / total))
  const full = Math.round(share * CELLS)
  return `${label} ${"█".repeat(full)}${"░".repeat(CELLS - full)} ${Math.floor(share * 100)} %  ${formatCount(done)} of ${formatCount(total)}`
}
