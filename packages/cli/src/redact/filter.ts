import { InputError } from "@orangebox/contract"
import type { RulesHere } from "@orangebox/reader"
import { safeJson, safeText } from "@orangebox/text"
import { EXIT, type ExitCode } from "../exit-code.js"
import type { GlobalOptions, Session } from "../session.js"
import type { FoundSecret } from "./explain-stream.js"
import { secretJson, secretText, summaryText } from "./format-redaction.js"
import { type Input, openInputs } from "./inputs.js"
import { explainInput, type InputSummary, redactInput } from "./redact-input.js"

/** One JSON document holds the whole text, so it has to fit into memory a few times. */
const MAX_JSON_BYTES = 64 * 1024 * 1024

/** The text of the inputs as it would be stored, one after the other. */
export async function printRedacted(
  { terminal }: Session,
  options: GlobalOptions,
  names: readonly string[],
  rules: RulesHere,
): Promise<ExitCode> {
  const { ruleset } = rules
  const inputs = openInputs(names)
  if (options.json) {
    const files = []
    for (const open of inputs) files.push(await redactedJson(open(), rules))
    terminal.out(safeJson({ profile: ruleset.profile, tags_of_store: rules.hasStoreKey, files }, 2))
    return EXIT.fine
  }
  for (const open of inputs) {
    const input = open()
    const summary = await redactInput(input, ruleset, (bytes, text) => {
      // A terminal gets the text, not whatever escape codes are in it; a pipe gets the bytes.
      terminal.outBytes(terminal.isOutTerminal ? Buffer.from(safeText(text)) : bytes)
      return terminal.drained()
    })
    terminal.say(`orangebox: ${input.name === "-" ? "" : `${input.name}: `}${summaryText(summary, rules)}`)
  }
  return EXIT.fine
}

async function redactedJson(input: Input, { ruleset }: RulesHere) {
  const parts: Uint8Array[] = []
  const masks: { byte_offset: number; byte_length: number; rule: string; tag: string }[] = []
  let given = 0
  let characters = 0
  const summary = await redactInput(input, ruleset, (bytes, text, found) => {
    let at = 0
    let offset = given
    for (const mask of found) {
      const start = mask.offset - characters
      offset += Buffer.byteLength(text.slice(at, start))
      at = start + mask.length
      const length = Buffer.byteLength(text.slice(start, at))
      masks.push({ byte_offset: offset, byte_length: length, rule: mask.rule, tag: mask.tag })
      offset += length
    }
    characters += text.length
    given += bytes.length
    if (given > MAX_JSON_BYTES) throw tooLong(input.name)
    parts.push(bytes)
  })
  const whole = Buffer.concat(parts)
  return {
    file: input.name,
    ...countsJson(summary),
    ...(summary.strayBytes === 0
      ? { text: whole.toString("utf8"), base64: null }
      : { text: null, base64: whole.toString("base64") }),
    masks,
  }
}

function countsJson({ bytes, strayBytes }: InputSummary) {
  return { bytes, undecodable_bytes: strayBytes }
}

/** Each place that would be masked. With `isCheck`, finding one is a finding. */
export async function explainInputs(
  { terminal }: Session,
  options: GlobalOptions & { readonly check?: boolean },
  names: readonly string[],
  rules: RulesHere,
): Promise<ExitCode> {
  const inputs = openInputs(names)
  const paint = terminal.paint
  const files = []
  const masks: ReturnType<typeof secretJson>[] = []
  let found = 0
  for (const open of inputs) {
    const input = open()
    const shownName = inputs.length > 1 || input.name !== "-" ? input.name : undefined
    const tell = (secret: FoundSecret): Promise<void> | void => {
      if (options.json) return void masks.push(secretJson(secret, input.name))
      terminal.out(secretText(secret, shownName, paint))
      return terminal.drained()
    }
    const summary = await explainInput(input, rules.ruleset, tell)
    found += summary.masks
    files.push({ file: input.name, ...countsJson(summary), masks: summary.masks })
    if (!options.json && !(options.check && summary.masks === 0)) {
      terminal.say(`orangebox: ${shownName === undefined ? "" : `${shownName}: `}${summaryText(summary, rules)}`)
    }
  }
  if (options.json) {
    terminal.out(safeJson({ profile: rules.ruleset.profile, tags_of_store: rules.hasStoreKey, files, masks }, 2))
  }
  return options.check && found > 0 ? EXIT.findings : EXIT.fine
}

function tooLong(name: string): InputError {
  return new InputError("TOO_LONG", {
    what: `--json holds at most ${MAX_JSON_BYTES / 1024 / 1024} MiB of text`,
    where: name === "-" ? "stdin" : name,
    next: "Leave --json away: as a filter it takes any length; or use --explain --json, which lists the masks only",
  })
}
