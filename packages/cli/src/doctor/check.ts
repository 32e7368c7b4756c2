export interface Check {
  readonly name: string
  /** A warning is worth knowing and stops nothing. */
  readonly verdict: "ok" | "warning" | "failed"
  readonly found: string
  readonly next?: string
}

export const ok = (name: string, found: string): Check => ({ name, verdict: "ok", found })
export const warning = (name: string, found: string, next: string): Check => ({ name, verdict: "warning", found, next })
export const failed = (name: string, found: string, next?: string): Check => ({
  name,
  verdict: "failed",
  found,
  ...(next === undefined ? {} : { next }),
})
