import type { RunListRow } from "../api/shapes.js"

export interface ListedRun {
  readonly row: RunListRow
  readonly depth: number
}

/** Replays and forks sit under the run they come from, where that is listed. */
export function underSources(runs: readonly RunListRow[]): ListedRun[] {
  const listed = new Set(runs.map(({ run_id }) => run_id))
  const below = new Map<string, RunListRow[]>()
  for (const row of runs) {
    const source = row.source_run_id
    if (source === null || source === row.run_id || !listed.has(source)) continue
    below.set(source, [...(below.get(source) ?? []), row])
  }
  const placed = new Set<string>()
  const ordered: ListedRun[] = []
  const place = (row: RunListRow, depth: number) => {
    if (placed.has(row.run_id)) return
    placed.add(row.run_id)
    ordered.push({ row, depth })
    for (const child of below.get(row.run_id) ?? []) place(child, depth + 1)
  }
  for (const row of runs) if (row.source_run_id === null || !listed.has(row.source_run_id)) place(row, 0)
  // Runs that name each other as source in a circle are listed all the same.
  for (const row of runs) place(row, 0)
  return ordered
}

/** `2 m`, `3 h`, `5 d`. */
export function ago(at: string, now = Date.now()): string {
  const seconds = Math.max(0, (now - Date.parse(at)) / 1000)
  if (seconds < 60) return `${Math.floor(seconds)} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}
