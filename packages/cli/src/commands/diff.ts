import { given } from "@orangebox/contract"
import { MASK_TYPES, type MaskType } from "@orangebox/dialects"
import { answerDiff, type DiffAsked } from "@orangebox/reader"
import { DEFAULT_DIFF_BUDGET, MIN_DIFF_BUDGET, Tier } from "@orangebox/replay"
import { type Command, InvalidArgumentError } from "commander"
import { EXIT } from "../exit-code.js"
import { writeNewFile } from "../new-file.js"
import { budgetParser, choiceParser } from "../option-values.js"
import { withRunsAt } from "../reading.js"
import { bindShell, type GlobalOptions, prose, type Session, wrongUsage } from "../session.js"
import { tell } from "../tell.js"
import { viewOptions } from "../view-options.js"

interface DiffCommandOptions extends DiffAsked {
  readonly budget?: number
  readonly html?: string
  readonly force?: boolean
}

export function define(command: Command, session: Session): void {
  command
    .description(
      "Compare two runs: their steps aligned, what differs and why, and where they went apart. Two steps or two bodies are compared to the byte.",
    )
    .argument("<a>", "a run, a step (last#4), a body (sha256:…), or an exported file")
    .argument("[b]", "what it is compared with", "last")
    .option(
      "--budget <tokens>",
      `as text of at most so many tokens, at least ${MIN_DIFF_BUDGET}; default in a pipe: ${DEFAULT_DIFF_BUDGET}`,
      budgetParser(MIN_DIFF_BUDGET),
    )
    .option("--columns", "side by side; default on a terminal")
    .option("--all", "every line, also of what is the same")
    .option("--tier <tiers>", `side by side, only these differences: ${Tier.options.join(",")}`, listOf(Tier.options))
    .option("--at <n>", "everything about one step: 18, or a18 or b18 where the numbers differ", parseStepAt)
    .option(
      "--mask <types>",
      `what differs only in these is noise, with commas: ${MASK_TYPES.join(", ")}`,
      listOf<MaskType>(MASK_TYPES),
    )
    .option("--body <name>", "of two steps only this body: request, response, args, result …")
    .option(
      "--exact",
      "of two steps or bodies every byte: key order, spacing and cache marks count, and all are listed",
    )
    .option("--html <file>", "also write a page that needs nothing else; - is stdout")
    .option("--force", "with --html: overwrite a file that is there")
    .addHelpText(
      "after",
      prose(
        session,
        "T0 other wording · T1 other decision · T2 other observation · T3 other effect · T4 other outcome.\nExits as diff(1) does: 0 the same, or the same but for noise; 1 different; 2 or more trouble.",
      ),
    )
  bindShell<DiffCommandOptions>(command, session, diff, [
    ["orangebox diff last~1", "the last run with the one before it"],
    ["orangebox diff run_01JT9 run_01JTB --at 18", "one step of them, with its payloads"],
    ["orangebox diff last~1 --mask uuid,iso_date", "where ids and dates in the text mean nothing"],
    ["orangebox diff last#3 last#5", "exactly two steps, to the byte: why the cache missed"],
    ["orangebox diff good.obxrun last --html diff.html", "with an exported run, as a page"],
  ])
}

function diff(
  session: Session,
  options: DiffCommandOptions & GlobalOptions,
  addressA = "",
  addressB = "last",
): Promise<number | undefined> {
  checkOptions(options)
  return withRunsAt(session, options, [addressA, addressB], async (...readings) => {
    const { terminal } = session
    const { budget, html, force, json, data: _data, ...asked } = options
    const shown = { ...viewOptions(session, given({ budget })), isWide: terminal.isOutTerminal }
    const answer = await answerDiff(readings[0]!, readings[1]!, { ...asked, ...given({ html }) }, shown)
    if (html === "-") terminal.out(answer.html!())
    else if (html !== undefined) {
      writeNewFile(html, [Buffer.from(answer.html!())], force ?? false)
      terminal.say(`orangebox: the page is ${html}`)
    }
    return html === "-" ? (answer.isBad ? EXIT.findings : undefined) : tell(session, options, answer)
  })
}

function checkOptions({ at, html, json, budget, columns, tier, force }: DiffCommandOptions & GlobalOptions): void {
  const clash =
    html === "-" && json
      ? "--html - and --json are two documents on one stdout"
      : budget !== undefined && (columns || tier)
        ? "--budget is about text, --columns and --tier about columns"
        : at !== undefined && (budget !== undefined || columns || tier)
          ? "--at shows all of one step; --budget, --columns and --tier are about the whole"
          : force && html === undefined
            ? "--force is about the file of --html"
            : undefined
  if (clash !== undefined) throw wrongUsage(clash, "Ask for one of them")
}

function parseStepAt(text: string): NonNullable<DiffAsked["at"]> {
  const [, side, digits] = /^(?:(a|b)?#?)(\d{1,9})$/.exec(text) ?? []
  if (digits === undefined || Number(digits) === 0)
    throw new InvalidArgumentError("It must be a step such as 18, a18 or b18.")
  return { side: side === "a" || side === "b" ? side : undefined, n: Number(digits) }
}

/** `a,b` or the option given twice. */
function listOf<T extends string>(choices: readonly T[]): (text: string, before?: readonly T[]) => readonly T[] {
  const parse = choiceParser(choices)
  return (text, before = []) => [...before, ...text.split(",").map((word) => parse(word.trim()))]
}
