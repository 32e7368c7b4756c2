/**
 * The files of one writer share a stem, `<start>-<pid>-<writer id>`:
 *
 *     <stem>.1.ndjson      lines
 *     <stem>.1.bodies      large bodies, raw
 *     <stem>.1.committed   put there by the collector once the file is safely in a store
 *     <stem>.reserve       drop counter and last words
 *
 * The 128-bit writer id makes a stem unique even where pids repeat (containers) and clocks stand still.
 */
export interface JournalName {
  readonly stem: string
  readonly writerId: string
  readonly fileNo: number
}

export function writerStem(startMs: number, pid: number, writerId: string): string {
  return `${sortableTime(startMs)}-${pid}-${writerId}`
}

export const linesName = (stem: string, fileNo: number): string => `${stem}.${fileNo}.ndjson`
export const sidecarName = (stem: string, fileNo: number): string => `${stem}.${fileNo}.bodies`
export const committedName = (stem: string, fileNo: number): string => `${stem}.${fileNo}.committed`
export const reserveName = (stem: string): string => `${stem}.reserve`

const STEM = String.raw`\d{8}T\d{9}Z-\d+-([0-9a-f]{32})`
const LINES_NAME = new RegExp(`^(${STEM})\\.(\\d{1,9})\\.ndjson$`)

export function parseLinesName(name: string): JournalName | undefined {
  const match = LINES_NAME.exec(name)
  return match ? { stem: match[1]!, writerId: match[2]!, fileNo: Number(match[3]) } : undefined
}

/** `20260131T120000123Z`: sorts as text, and is legal in file names everywhere. */
function sortableTime(ms: number): string {
  const clamped = Number.isFinite(ms) ? Math.min(Math.max(ms, 0), Date.UTC(9999, 11, 31)) : 0
  return new Date(clamped).toISOString().replace(/[-:.]/g, "")
}
