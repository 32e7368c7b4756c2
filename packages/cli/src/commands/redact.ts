import { safeJson } from "@orangebox/query"
import type { Command } from "commander"
import { EXIT, type ExitCode } from "../exit-code.js"
import { InputError } from "../failure.js"
import { explainInputs, printRedacted } from "../redact/filter.js"
import { rulesHere } from "../redact/rules-here.js"
import { rulesJson, rulesText } from "../redact/words.js"
import { examples, type GlobalOptions, type Session, shellOf } from "../session.js"

interface RedactOptions {
  readonly explain?: boolean
  readonly check?: boolean
  readonly rules?: boolean
  readonly pii?: boolean
}

export function define(command: Command, session: Session): void {
  command
    .description(
      "Print text as it would be stored, secrets masked, by the rules that hold here: the built-in ones and those of the configuration.",
    )
    .argument("[file...]", "files to read; - or nothing reads stdin")
    .option("--explain", "instead of the text, list each mask: where, which rule, what it is about, its tag")
    .option("--check", "the same list, and exit code 1 if there is anything in it")
    .option("--rules", "list all rules")
    .option("--pii", "also mask e-mail addresses, phone and card numbers, IBANs and IP addresses")
    .addHelpText(
      "after",
      "\nInput may be of any length and hold any bytes; those that are no text are kept. A secret is never printed, by no option.",
    )
    .addHelpText(
      "after",
      examples([
        ["orangebox redact app.log > safe.log", "a log that can be shown around"],
        ["env | orangebox redact --explain", "what would be masked, and why"],
        ["git diff --cached | orangebox redact --check", "as a pre-commit hook: fails when a secret is about to go in"],
        ["orangebox redact --rules", "everything that is looked for"],
      ]),
    )
    .action(shellOf<RedactOptions>(session, redact))
}

async function redact(session: Session, options: RedactOptions & GlobalOptions, ...files: string[]): Promise<ExitCode> {
  const rules = rulesHere(process.cwd(), options)
  if (rules.warning !== undefined) session.terminal.say(`orangebox: ${rules.warning}`)
  if (options.rules) {
    if (files.length > 0) {
      throw new InputError("USAGE", { what: "--rules reads no files", next: "Leave away either" })
    }
    const { ruleset, isPii } = rules
    session.terminal.out(options.json ? safeJson(rulesJson(ruleset, isPii), 2) : rulesText(ruleset, isPii))
    return EXIT.fine
  }
  return options.explain || options.check
    ? explainInputs(session, options, files, rules)
    : printRedacted(session, options, files, rules)
}
