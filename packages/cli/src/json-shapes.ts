import type { Problem } from "@orangebox/contract"
import type { LockHolder, RecordedProblem } from "@orangebox/store"

/** Shapes that several commands print, as `docs/cli-json.md` describes them. */

export function holderJson(holder: LockHolder | undefined) {
  return holder ? { pid: holder.pid, host: holder.host, since: new Date(holder.sinceMs).toISOString() } : null
}

export function problemJson(problem: Problem & Partial<RecordedProblem>) {
  const { code, severity, subject, field, reason, file, offset } = problem
  return { code, severity, subject, field, reason, ...(file === undefined ? {} : { file, offset: offset ?? null }) }
}
