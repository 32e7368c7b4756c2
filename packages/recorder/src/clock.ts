/** The two times an event carries: wall time for people, monotonic time for durations. Injected, so that tests own the clock. */
export interface Moment {
  readonly wallMs: number
  readonly monoUs: number
}
export type Now = () => Moment

export const systemClock: Now = () => ({ wallMs: Date.now(), monoUs: Math.floor(performance.now() * 1000) })

let cachedSecond = Number.NaN
let cachedPrefix = ""

/** ISO time in UTC. The part down to the second is kept between calls: toISOString() would cost a tenth of a whole emit. */
export function utcText(wallMs: number): string {
  const second = Math.floor(wallMs / 1000)
  if (second !== cachedSecond) {
    const date = new Date(second * 1000)
    // A clock outside the range of Date still must not break the caller.
    cachedPrefix = Number.isNaN(date.getTime()) ? "1970-01-01T00:00:00" : date.toISOString().slice(0, 19)
    cachedSecond = second
  }
  const ms = Math.floor(wallMs - second * 1000)
  return `${cachedPrefix}.${ms < 10 ? "00" : ms < 100 ? "0" : ""}${ms}Z`
}
