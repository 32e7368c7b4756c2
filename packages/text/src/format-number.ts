/** `212` · `5.4k` · `52.1k` · `1.2M`. Unknown is `?`, never zero. */
export function formatCount(count: number | null | undefined): string {
  return count === null || count === undefined || !Number.isFinite(count) ? "?" : scaled(count, 1000, COUNT_UNITS)
}

/** `512 B` · `2.0 kB` · `1.2 MB`, in powers of 1000. */
export function formatBytes(bytes: number | null | undefined): string {
  return bytes === null || bytes === undefined || !Number.isFinite(bytes) ? "? B" : scaled(bytes, 1000, BYTE_UNITS)
}

/** `81 %`. A share that is neither nothing nor everything is never rounded to look like it. */
export function formatPercent(part: number, whole: number): string {
  if (whole <= 0) return "? %"
  const percent = (part / whole) * 100
  if (percent > 0 && percent < 1) return "<1 %"
  if (percent > 99 && percent < 100) return ">99 %"
  return `${Math.round(percent)} %`
}

/** `1 step`, `7 steps`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** `12ms` · `0.5s` · `41.2s` · `3m 12s` · `2h 05m`. Unknown is `?`, never zero. */
export function formatDuration(micros: number | undefined): string {
  if (micros === undefined || !Number.isFinite(micros) || micros < 0) return "?"
  const ms = micros / 1000
  if (ms < 1) return "<1ms"
  if (ms < 99.5) return `${Math.round(ms)}ms`
  const tenths = Math.round(ms / 100)
  if (tenths < 600) return `${(tenths / 10).toFixed(1)}s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${pad(seconds % 60)}s`
  const minutes = Math.round(seconds / 60)
  return `${Math.floor(minutes / 60)}h ${pad(minutes % 60)}m`
}

/** `2026-01-31 12:05:09`, in UTC, of milliseconds or of a recorded timestamp. */
export function formatMoment(at: number | string): string {
  return (typeof at === "string" ? at : new Date(at).toISOString()).slice(0, 19).replace("T", " ")
}

const COUNT_UNITS = ["", "k", "M", "G", "T"] as const
const BYTE_UNITS = [" B", " kB", " MB", " GB", " TB"] as const

function scaled(value: number, step: number, units: readonly string[]): string {
  let rest = value
  let unit = 0
  // 999.95 would print as 1000.0, so the next unit begins there.
  while (unit < units.length - 1 && (unit === 0 ? rest >= step : rest >= step - 0.05)) {
    rest /= step
    unit += 1
  }
  return unit === 0 ? `${rest}${units[0]}` : `${rest.toFixed(1)}${units[unit]}`
}

const pad = (value: number): string => String(value).padStart(2, "0")
