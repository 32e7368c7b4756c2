const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

/**
 * The month that a run's rows lie in: of the time inside its id, because rows can only replace each other inside one partition, and a time that is
 * corrected later would put the second beside the first.
 */
export function monthOf(runId: string): string {
  const time = /^run_([0-9A-HJKMNP-TV-Z]{10})/.exec(runId)?.[1]
  if (time === undefined) return "1970-01-01"
  let atMs = 0
  for (const digit of time) atMs = atMs * 32 + CROCKFORD.indexOf(digit)
  // What the server can hold as a day ends in 2149.
  if (atMs > LAST_MS) return "1970-01-01"
  return `${new Date(atMs).toISOString().slice(0, 7)}-01`
}

const LAST_MS = Date.parse("2149-01-01T00:00:00.000Z")
