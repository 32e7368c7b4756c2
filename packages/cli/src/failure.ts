import { OrangeboxError } from "@orangebox/contract"
import { failureOf, isBadInput, withoutSecrets } from "@orangebox/reader"
import { safeJson, safeText } from "@orangebox/text"
import { EXIT, type ExitCode } from "./exit-code.js"
import type { Terminal } from "./terminal.js"

/** The user pressed Ctrl-C. */
export class InterruptedError extends OrangeboxError {
  constructor() {
    super("INTERRUPTED", { what: "interrupted" })
  }
}

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof InterruptedError) return EXIT.interrupted
  return isBadInput(error) ? EXIT.badInput : EXIT.systemError
}

/** Tells what went wrong. */
export async function reportFailure(
  terminal: Terminal,
  error: unknown,
  options: { json: boolean; debug: boolean; command?: string | undefined; data?: string | undefined },
): Promise<void> {
  const failure = await withoutSecrets(failureOf(error, options.command, options.data))
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

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const own = error.stack ?? error.message
  return error.cause === undefined ? own : `${own}\ncaused by ${stackOf(error.cause)}`
}
