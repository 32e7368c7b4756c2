/** Wall time is for people and may jump; durations and deadlines use the monotonic clock only. */
export interface Clock {
  wallMs(): number
  monoMs(): number
}

export const systemClock: Clock = { wallMs: () => Date.now(), monoMs: () => performance.now() }

export function clockOf(now: (() => { wallMs: number; monoUs: number }) | undefined): Clock {
  return now === undefined ? systemClock : { wallMs: () => now().wallMs, monoMs: () => now().monoUs / 1000 }
}
