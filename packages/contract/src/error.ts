import { type Advice, adviceText } from "./advice.js"

/** What happened, where, and what to do next: every error a user can see carries the three, and a code that never changes. */
export interface ErrorStory {
  readonly what: string
  readonly where?: string
  readonly next?: string | Advice
  readonly cause?: unknown
}

export class OrangeboxError extends Error {
  readonly code: string
  readonly what: string
  readonly where: string | undefined
  /** What to do, for a user who named no data folder; a printer that knows one makes its own text of `advice`. */
  readonly next: string | undefined
  readonly advice: string | Advice | undefined

  constructor(code: string, story: ErrorStory) {
    const where = story.where === undefined ? "" : ` (${story.where})`
    const next = story.next === undefined ? "" : `. ${adviceText(story.next)}`
    super(`${story.what}${where}${next}`, story.cause === undefined ? undefined : { cause: story.cause })
    this.name = "OrangeboxError"
    this.code = code
    this.what = story.what
    this.where = story.where
    this.next = story.next === undefined ? undefined : adviceText(story.next)
    this.advice = story.next
  }
}

/** A mistake in what was asked for, or in what it points at: the user can put it right by asking differently. */
export class InputError extends OrangeboxError {}

/** The audit class of failure: something that had to be durable is not, so the run must stop. */
export class SystemError extends OrangeboxError {
  constructor(story: ErrorStory) {
    super("SYSTEM_ERROR", story)
    this.name = "SystemError"
  }
}
