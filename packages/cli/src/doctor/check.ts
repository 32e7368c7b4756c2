import { type Advice, OrangeboxError } from "@orangebox/contract"

export interface Check {
  readonly name: string
  /** A warning is worth knowing and stops nothing. */
  readonly verdict: "ok" | "warning" | "failed"
  readonly found: string
  readonly next?: string | Advice
}

export const ok = (name: string, found: string): Check => ({ name, verdict: "ok", found })
export const warning = (name: string, found: string, next: string | Advice): Check => ({
  name,
  verdict: "warning",
  found,
  next,
})
export const failed = (name: string, found: string, next?: string | Advice): Check => ({
  name,
  verdict: "failed",
  found,
  ...(next === undefined ? {} : { next }),
})

/** What was thrown, as a check that failed: what to do about it is said once, in its own line. */
export function troubleAs(name: string, error: unknown): Check {
  if (error instanceof OrangeboxError) {
    return failed(name, error.where === undefined ? error.what : `${error.what} (${error.where})`, error.advice)
  }
  return failed(name, error instanceof Error ? error.message : String(error))
}
