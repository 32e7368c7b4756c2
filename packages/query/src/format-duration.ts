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

const pad = (value: number): string => String(value).padStart(2, "0")
