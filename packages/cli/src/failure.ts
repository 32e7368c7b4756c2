import { InputError, OrangeboxError } from "@orangebox/contract"
import { safeJson, safeText } from "@orangebox/text"
import { EXIT, type ExitCode } from "./exit-code.js"
import { inWords, systemTroubleIn } from "./system-trouble.js"
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
  return isInput(error) ? EXIT.badInput : EXIT.systemError
}

function isInput(error: unknown): boolean {
  if (error instanceof OrangeboxError) return error instanceof InputError || INPUT_CODES.has(error.code)
  return systemTroubleIn(error)?.isInput === true
}

export interface Failure {
  readonly code: string
  readonly what: string
  readonly where: string | null
  readonly next: string
}

/**
 * What, where, next: always all that is known, and always a next step. A stack trace tells a user nothing, so it is shown only on demand.
 *
 * @param command whose help is the next step where there is no better one
 */
export function failureOf(error: unknown, command?: string): Failure {
  const trouble = systemTroubleIn(error)
  if (error instanceof OrangeboxError) {
    const help = `See: orangebox${command === undefined ? "" : ` ${command}`} --help`
    const usual = trouble?.next ?? (isInput(error) ? help : "See what is wrong with: orangebox doctor")
    return { code: error.code, what: inWords(error.what), where: error.where ?? null, next: error.next ?? usual }
  }
  if (trouble) return { code: "SYSTEM", what: trouble.words, where: trouble.path, next: trouble.next }
  const cause = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return {
    code: "INTERNAL",
    what: `internal error, this is a bug in orangebox: ${cause.split("\n", 1)[0]}`,
    where: null,
    next: "Run it again with ORANGEBOX_DEBUG=1 to see where it happened, and please report it",
  }
}

export async function reportFailure(
  terminal: Terminal,
  error: unknown,
  options: { json: boolean; debug: boolean; command?: string | undefined },
): Promise<void> {
  const failure = await withoutSecrets(failureOf(error, options.command))
  if (options.json) {
    terminal.say(safeJson({ error: failure }))
  } else {
    const paint = terminal.paintTalk
    const lines = [`${paint("orangebox:", "bad")} ${safeText(failure.what)}`]
    if (failure.where !== null) lines.push(`${paint("  where", "dim")} ${safeText(failure.where)}`)
    lines.push(`${paint("  next ", "dim")} ${safeText(failure.next)}`)
    terminal.sayPainted(lines.join("\n"))
  }
  if (options.debug) terminal.say(stackOf(error))
}

/** What is wrong may be quoted from a file that was named by mistake, or from a command line with a key in it. Rules load only where one failed. */
async function withoutSecrets(failure: Failure): Promise<Failure> {
  const { createRuleset, redactText } = await import("@orangebox/redaction")
  // Nobody compares these masks with others, so they need no key.
  const ruleset = createRuleset({ key: new Uint8Array(32) })
  return { ...failure, what: redactText(failure.what, ruleset).text, next: redactText(failure.next, ruleset).text }
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const own = error.stack ?? error.message
  return error.cause === undefined ? own : `${own}\ncaused by ${stackOf(error.cause)}`
}
