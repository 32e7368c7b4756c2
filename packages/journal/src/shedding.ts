import type { GapBuilder, UndeclaredLosses } from "./undeclared-losses.js"
import type { WarningLimiter } from "./warning-limiter.js"
import type { Clock } from "./writer-settings.js"

const SHED_MS = 10_000
/** How old the last look at the processor's queue may be when a write begins. */
const LOOK_EVERY_MS = 50

/**
 * Leaving out bodies for a while, because the disk took too long for a write: the app waits for every write, and bodies are most of the bytes.
 * What a write waited for a processor is not the disk's: of a hundred writers on two cores each waits, and leaving out bodies would help none.
 * Such a writer may also wait for another that holds a lock of the kernel and is not let run; so only the second slow write in a row counts.
 */
export class Shedding {
  readonly #clock: Clock
  readonly #losses: UndeclaredLosses
  readonly #warnings: WarningLimiter
  readonly #slowWriteMs: number
  #wasSlow = false
  #looked = { atMs: Number.NEGATIVE_INFINITY, cpuWaitMs: 0 }
  #current: { untilMs: number; readonly gap: GapBuilder } | undefined

  constructor(clock: Clock, slowWriteMs: number, losses: UndeclaredLosses, warnings: WarningLimiter) {
    this.#slowWriteMs = slowWriteMs
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

  /** Before a write. */
  watch(now: number): void {
    if (now - this.#looked.atMs > LOOK_EVERY_MS) this.#looked = { atMs: now, cpuWaitMs: this.#clock.cpuWaitMs() }
  }

  /** Begins, or goes on for longer, where the write was slow. */
  afterWrite(startedAt: number, now: number, where: string): void {
    const wasSlow = this.#wasSlow
    this.#wasSlow = false
    if (now - startedAt <= this.#slowWriteMs) return
    const tookMs = now - startedAt - (this.#clock.cpuWaitMs() - this.#looked.cpuWaitMs)
    if (tookMs <= this.#slowWriteMs) return
    this.#wasSlow = true
    if (!wasSlow) return
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
