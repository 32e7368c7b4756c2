import type { GapBuilder, UndeclaredLosses } from "./undeclared-losses.js"
import type { WarningLimiter } from "./warning-limiter.js"
import type { Clock } from "./writer-settings.js"

const SHED_MS = 10_000

/** Leaving out bodies for a while, because a write took too long: the app waits for every write, and bodies are most of the bytes. */
export class Shedding {
  readonly #clock: Clock
  readonly #losses: UndeclaredLosses
  readonly #warnings: WarningLimiter
  #current: { untilMs: number; readonly gap: GapBuilder } | undefined

  constructor(clock: Clock, losses: UndeclaredLosses, warnings: WarningLimiter) {
    this.#clock = clock
    this.#losses = losses
    this.#warnings = warnings
  }

  isOn(now: number): boolean {
    return this.#current !== undefined && now < this.#current.untilMs
  }

  dropChunk(byteSize: number): void {
    this.#current?.gap.noteChunk(byteSize, this.#clock.wallMs())
    this.#losses.chunksDropped++
  }

  /** Begins, or goes on for longer. */
  begin(now: number, tookMs: number, where: string): void {
    if (this.#current !== undefined) {
      this.#current.untilMs = now + SHED_MS
      return
    }
    this.#current = { untilMs: now + SHED_MS, gap: this.#losses.startGap("slow_write", null) }
    this.#warnings.warn("slow", now, "JOURNAL_SLOW", {
      what: `a journal write took ${Math.round(tookMs)} ms; bodies are left out for a while`,
      where,
      next: "Events are still recorded; move the journal to a faster disk if this comes again",
    })
  }

  endIfOver(now: number): void {
    if (this.#current !== undefined && now >= this.#current.untilMs) this.end()
  }

  end(): void {
    if (this.#current === undefined) return
    this.#losses.endGap(this.#current.gap)
    this.#current = undefined
  }
}
