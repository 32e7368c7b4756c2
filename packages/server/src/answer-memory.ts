import type { Reply } from "./reply.js"

/** Of all answers together; one that takes more than an eighth of it is not kept. */
const MOST_BYTES = 32 * 1024 * 1024

/**
 * Answers that were given, for as long as nothing they are made of has changed. With the first question after a change all of them go: what was
 * redacted or pruned must not live on here. Questions that are asked while they are being answered wait for that answer.
 */
export class AnswerMemory {
  /** The one that was asked for last stands last. */
  readonly #known = new Map<string, { readonly reply: Promise<Reply>; bytes: number }>()
  readonly #most: number
  #version = ""
  #bytes = 0

  constructor(most = MOST_BYTES) {
    this.#most = most
  }

  /** @param version of everything that answers are made of */
  answer(question: string, version: string, work: () => Promise<Reply>): Promise<Reply> {
    if (version !== this.#version) this.#forgetAll(version)
    const known = this.#known.get(question)
    if (known !== undefined) {
      this.#known.delete(question)
      this.#known.set(question, known)
      return known.reply
    }
    const entry = { reply: work(), bytes: 0 }
    this.#known.set(question, entry)
    entry.reply.then(
      (reply) => this.#weigh(question, entry, reply),
      () => this.#forget(question, entry),
    )
    return entry.reply
  }

  #weigh(question: string, entry: { bytes: number }, { status, body }: Reply): void {
    if (this.#known.get(question) !== entry) return
    entry.bytes = 2 * (question.length + body.length)
    this.#bytes += entry.bytes
    // A refusal may be another a moment later.
    if (status !== 200 || entry.bytes > this.#most / 8) this.#forget(question, entry)
    for (const [oldest, { bytes }] of this.#known) {
      if (this.#bytes <= this.#most) break
      this.#known.delete(oldest)
      this.#bytes -= bytes
    }
  }

  #forget(question: string, entry: { bytes: number }): void {
    if (this.#known.get(question) !== entry) return
    this.#known.delete(question)
    this.#bytes -= entry.bytes
  }

  #forgetAll(version: string): void {
    this.#known.clear()
    this.#bytes = 0
    this.#version = version
  }
}
