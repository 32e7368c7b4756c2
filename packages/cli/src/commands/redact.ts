import { rulesHere } from "@orangebox/reader"
import { safeJson } from "@orangebox/text"
import type { Command } from "commander"
import { EXIT, type ExitCode } from "../exit-code.js"
import { explainInputs, printRedacted } from "../redact/filter.js"
import { rulesJson, rulesText } from "../redact/format-redaction.js"
import { redactStored, type StoredOptions } from "../redact/stored.js"
import { bindShell, type GlobalOptions, prose, type Session, wrongUsage } from "../session.js"

interface RedactOptions extends StoredOptions {
  readonly stored?: boolean
  readonly explain?: boolean
  readonly check?: boolean
  readonly rules?: boolean
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
    .option("--stored", "mask after the fact: in store, packs, index and journals; needs one of the three below")
    .option("--value <text>", "with --stored: this text, however it is written; - reads it from stdin")
    .option("--pattern <rule...>", "with --stored: what these rules find")
    .option("--all-rules", "with --stored: what any rule finds")
    .option("--run <address>", "with --stored: only what this run holds")
    .option("--dry-run", "with --stored: say what would go, change nothing")
    .addHelpText(
      "after",
      prose(
        session,
        "Input may be of any length and hold any bytes; those that are no text are kept. A secret is never printed, by no option.",
      ),
    )
    .addHelpText(
      "after",
      prose(
        session,
        "--stored replaces bodies that hold the text by tombstones, masks it in events, and cannot be undone. Exit code 1 means that something could not be reached, such as the journal of a process that still runs; it is named.",
      ),
    )
  bindShell<RedactOptions>(command, session, redact, [
    ["orangebox redact app.log > safe.log", "a log that can be shown around"],
    ["env | orangebox redact --explain", "what would be masked, and why"],
    ["git diff --cached | orangebox redact --check", "as a pre-commit hook: fails when a secret is about to go in"],
    ["orangebox redact --rules", "everything that is looked for"],
    ["orangebox redact --stored --all-rules --dry-run", "what today's rules would find in what is stored"],
    ["pass show leaked | orangebox redact --stored --value -", "a value that must not stay, typed nowhere"],
  ])
}

const STORED_ONLY = ["value", "pattern", "allRules", "run", "dryRun"] as const

async function redact(session: Session, options: RedactOptions & GlobalOptions, ...files: string[]): Promise<ExitCode> {
  if (options.stored) {
    if (files.length > 0 || options.explain || options.check || options.rules) {
      throw wrongUsage("--stored is about the store, not about files", "Leave away either")
    }
    return redactStored(session, options)
  }
  const stray = STORED_ONLY.find((name) => options[name] !== undefined)
  if (stray !== undefined) {
    throw wrongUsage(
      `--${stray.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} goes with --stored`,
      "Add --stored",
    )
  }
  const rules = rulesHere(process.cwd(), options)
  if (rules.warning !== undefined) session.terminal.say(`orangebox: ${rules.warning}`)
  if (options.rules) {
    if (files.length > 0) {
      throw wrongUsage("--rules reads no files", "Leave away either")
    }
    const { ruleset } = rules
    session.terminal.out(options.json ? safeJson(rulesJson(ruleset), 2) : rulesText(ruleset))
    return EXIT.fine
  }
  return options.explain || options.check
    ? explainInputs(session, options, files, rules)
    : printRedacted(session, options, files, rules)
}
