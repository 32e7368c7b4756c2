import type { Clock } from "./clock.js"
import type { Episodes } from "./episodes.js"
import type { GapLedger } from "./gap-ledger.js"
import type { LossAccount } from "./loss-account.js"

const SHED_MS = 10_000

/** Leaving out bodies for a while, because a write took too long: the app waits for every write, and bodies are most of the bytes. */
export class Shedding {
  readonly #clock: Clock
  readonly #losses: LossAccount
  readonly #episodes: Episodes
  #current: { untilMs: number; readonly ledger: GapLedger } | undefined

  constructor(clock: Clock, losses: LossAccount, episodes: Episodes) {
    this.#clock = clock
    this.#losses = losses
    this.#episodes = episodes
  }

  isOn(now: number): boolean {
    return this.#current !== undefined && now < this.#current.untilMs
  }

  dropChunk(byteSize: number): void {
    this.#current?.ledger.noteChunk(byteSize, this.#clock.wallMs())
    this.#losses.chunksDropped++
  }

  /** Begins, or goes on for longer. */
  begin(now: number, tookMs: number, where: string): void {
    if (this.#current !== undefined) {
      this.#current.untilMs = now + SHED_MS
      return
    }
    this.#current = { untilMs: now + SHED_MS, ledger: this.#losses.openLedger("slow_write", null) }
    this.#episodes.warn("slow", now, "JOURNAL_SLOW", {
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
    this.#losses.closeLedger(this.#current.ledger)
    this.#current = undefined
  }
}
