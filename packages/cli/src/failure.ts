import { InputError, OrangeboxError } from "@orangebox/contract"
import { safeJson, safeText } from "@orangebox/text"
import { EXIT, type ExitCode } from "./exit-code.js"
import type { Terminal } from "./terminal.js"

/** Somebody pressed Ctrl-C. */
export class InterruptedError extends OrangeboxError {
  constructor() {
    super("INTERRUPTED", { what: "interrupted" })
  }
}

/** Codes of other packages that mean the same: the user can put it right by typing something else. */
const INPUT_CODES = new Set([
  "ADDRESS_FORM",
  "CONFIG",
  "FORK_STEP",
  "MASKS_FILE",
  "DIFF_EMPTY_RUN",
  "NO_BEFORE_AFTER",
  "OVERRIDE_PROFILE",
  "REDACTION_RULES",
  "STEP_NUMBER",
  "STORE_CURSOR",
  "STORE_QUERY",
  "SEARCH_QUERY",
  "VARIABLE",
])

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof InterruptedError) return EXIT.interrupted
  return error instanceof InputError || (error instanceof OrangeboxError && INPUT_CODES.has(error.code))
    ? EXIT.badInput
    : EXIT.systemError
}

export interface Failure {
  readonly code: string
  readonly what: string
  readonly where: string | null
  readonly next: string | null
}

/** What, where, next. A stack trace tells a user nothing, so it is shown only on demand. */
export function failureOf(error: unknown): Failure {
  if (error instanceof OrangeboxError) {
    return { code: error.code, what: error.what, where: error.where ?? null, next: error.next ?? null }
  }
  const cause = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return {
    code: "INTERNAL",
    what: `internal error, this is a bug in orangebox: ${cause.split("\n", 1)[0]}`,
    where: null,
    next: "Run it again with ORANGEBOX_DEBUG=1 to see where it happened, and please report it",
  }
}

export function reportFailure(terminal: Terminal, error: unknown, options: { json: boolean; debug: boolean }): void {
  const failure = failureOf(error)
  if (options.json) {
    terminal.say(safeJson({ error: failure }))
  } else {
    const paint = terminal.paintTalk
    const lines = [`${paint("orangebox:", "bad")} ${safeText(failure.what)}`]
    if (failure.where !== null) lines.push(`${paint("  where", "dim")} ${safeText(failure.where)}`)
    if (failure.next !== null) lines.push(`${paint("  next ", "dim")} ${safeText(failure.next)}`)
    terminal.sayPainted(lines.join("\n"))
  }
  if (options.debug) terminal.say(stackOf(error))
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const own = error.stack ?? error.message
  return error.cause === undefined ? own : `${own}\ncaused by ${stackOf(error.cause)}`
}
