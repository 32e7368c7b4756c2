import { type RebuiltPrompt, sliceBody } from "@orangebox/query"
import { recordedWord, safeJson, safeLine, safeText } from "@orangebox/text"
import { EXIT, type ExitCode } from "../exit-code.js"
import type { Session } from "../session.js"

/** More than a slice of a body, because who asks for a prompt wants to read it; a pipe gets all of it. */
const TERMINAL_BUDGET = 8000

export interface PromptOptions {
  readonly n: number
  readonly json: boolean
  readonly budget: number | undefined
  readonly freshness: object
}

/** The prompt: exact bytes into a pipe or a file, safe text on a terminal. What is missing is said, and nothing is made up for it. */
export function writePrompt({ terminal }: Session, rebuilt: RebuiltPrompt, options: PromptOptions): ExitCode {
  if (options.json) {
    terminal.out(safeJson({ n: options.n, ...promptJson(rebuilt), ...options.freshness }, 2))
    return rebuilt.ok ? EXIT.fine : EXIT.findings
  }
  if (!rebuilt.ok) {
    for (const line of lossLines(rebuilt, options.n)) terminal.say(line)
    // Half a prompt in a pipe would be taken for a whole one.
    if (terminal.isOutTerminal && rebuilt.partial !== undefined) terminal.outVerbatim(safeText(rebuilt.partial))
    return EXIT.findings
  }
  for (const line of sourceLines(rebuilt, options.n)) terminal.say(line)
  if (!terminal.isOutTerminal) {
    terminal.outBytes(rebuilt.bytes)
    return EXIT.fine
  }
  const slice = sliceBody(rebuilt.bytes, { budget: options.budget ?? TERMINAL_BUDGET })
  const paint = terminal.paint
  const more = slice.nextCursor !== undefined ? " · all of it: raise --budget, or send it to a file" : ""
  terminal.outVerbatim(`${slice.text}\n${paint(`${slice.caption} · ${rebuilt.hash}${more}`, "dim")}`)
  return EXIT.fine
}

function promptJson(rebuilt: RebuiltPrompt) {
  if (!rebuilt.ok) {
    const { missing, changed, partial, reason } = rebuilt
    const unknown = { from: null, hash: null, byte_size: null, text: null, masked: [] }
    return { ok: false, ...unknown, reason, missing, changed, partial: partial ?? null }
  }
  const { from, hash, bytes, masked } = rebuilt
  const text = Buffer.from(bytes).toString("utf8")
  const nothing = { reason: null, missing: [], changed: [], partial: null }
  return { ok: true, from, hash, byte_size: bytes.length, text, masked, ...nothing }
}

/** What a reader of the bytes has to know about them. */
function sourceLines({ from, masked }: Extract<RebuiltPrompt, { ok: true }>, n: number): string[] {
  const names = masked.slice(0, 5).map((name) => recordedWord(name, 40))
  const more = masked.length > names.length ? `, … ${masked.length - names.length} more` : ""
  return [
    ...(from === "sources"
      ? [`orangebox: the prompt of #${n} is rendered again from what its pointers lead to, to the recorded hash`]
      : []),
    ...(masked.length > 0
      ? [
          `orangebox: secrets were masked when #${n} was recorded; the model was sent the others, in: ${names.join(", ")}${more}`,
        ]
      : []),
  ]
}

const MOST_LINES = 20

function lossLines({ reason, missing, changed }: Extract<RebuiltPrompt, { ok: false }>, n: number): string[] {
  const lost = [
    ...missing.map((item) => ({ ...item, how: "missing" })),
    ...changed.map((item) => ({ ...item, how: "changed" })),
  ]
  const lines = lost.slice(0, MOST_LINES).map(({ how, item_id, source_ref, rendered_ref, why }) => {
    const context = `from ${source_ref === null ? "an unknown source" : recordedWord(source_ref, 60)}, was ${rendered_ref.slice(0, 19)}${why === undefined ? "" : `: ${safeLine(why)}`}`
    return `  ${how}  ${recordedWord(item_id, 60)}  ${context}`
  })
  const more =
    lost.length > MOST_LINES ? [`  … ${lost.length - MOST_LINES} of ${lost.length} more (see them with --json)`] : []
  return [`orangebox: the prompt of #${n} cannot be rebuilt: ${reason}`, ...lines, ...more]
}
