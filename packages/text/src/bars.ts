/** `███▌` in at most `width` columns: what is there at all shows, however small. */
export function shareBar(share: number | undefined, width: number): string {
  if (share === undefined || !(share > 0)) return ""
  const eighths = Math.max(1, Math.min(width * 8, Math.round(share * width * 8)))
  const rest = eighths % 8
  return "█".repeat(Math.floor(eighths / 8)) + (rest === 0 ? "" : EIGHTHS[rest - 1]!)
}

const EIGHTHS = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"] as const

/** Parts of one whole side by side, each in its own sign; what is left over is dots. A part that is there gets a column. */
export function stackedBar(parts: readonly { readonly share: number; readonly sign: string }[], width: number): string {
  let bar = ""
  let left = width
  for (const { share, sign } of parts) {
    const columns = share > 0 ? Math.min(left, Math.max(1, Math.round(share * width))) : 0
    bar += sign.repeat(columns)
    left -= columns
  }
  return bar + "·".repeat(left)
}
