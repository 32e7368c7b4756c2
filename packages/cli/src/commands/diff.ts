import { MASK_TYPES, type MaskType } from "@orangebox/dialects"
import { diffRunsAt } from "@orangebox/reader"
import {
  DEFAULT_DIFF_BUDGET,
  diffColumns,
  diffHtml,
  diffText,
  exitCodeOf,
  MIN_DIFF_BUDGET,
  type RunDiff,
  Tier,
} from "@orangebox/replay"
import { estimateTokens, safeJson } from "@orangebox/text"
import { type Command, InvalidArgumentError } from "commander"
import { itemsAt, itemsText, type Places, type StepAt } from "../diff/at-step.js"
import { diffOfTwo, type ExactOptions } from "../diff/exact.js"
import { writeNewFile } from "../new-file.js"
import { budgetParser, choiceParser } from "../option-values.js"
import { type PlacedReading, withRunsAt } from "../reading.js"
import { bindShell, type GlobalOptions, type Session, wrongUsage } from "../session.js"

interface DiffCommandOptions extends Pick<ExactOptions, "exact" | "body" | "budget"> {
  readonly columns?: boolean
  readonly all?: boolean
  readonly tier?: readonly Tier[]
  readonly at?: StepAt
  readonly mask?: readonly MaskType[]
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
      `what differs only in these is noise: ${MASK_TYPES.join(",")}`,
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
      "\nT0 other wording · T1 other decision · T2 other observation · T3 other effect · T4 other outcome.\nExits as diff(1) does: 0 the same, or the same but for noise; 1 different; 2 or more trouble.",
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
    const [a, b] = [readings[0]!, readings[1]!]
    const exitCode = await diffOfTwo(session, a, b, options)
    if (exitCode !== undefined) return exitCode
    const found = await diffRunsAt(a, b, {
      ...(options.mask === undefined ? {} : { masks: options.mask }),
      ...(options.at === undefined && !options.all ? {} : { payloads: Number.POSITIVE_INFINITY }),
    })
    const places = placesOf(a, found.a.run_id ?? "", b, found.b.run_id ?? "")
    const behindBytes = Math.max(a.freshness.behind_bytes, b.freshness.behind_bytes)
    if (options.html !== undefined && options.html !== "-") {
      writeNewFile(options.html, [Buffer.from(diffHtml(found))], options.force ?? false)
      session.terminal.say(`orangebox: the page is ${options.html}`)
    }
    session.terminal.out(tellDiff(session, found, options, places, behindBytes))
    return exitCodeOf(found)
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

interface DiffPlaces extends Places {
  /** Both runs as the arguments of one command. */
  readonly both: string
}

function placesOf(a: PlacedReading, runIdA: string, b: PlacedReading, runIdB: string): DiffPlaces {
  // The data folder is named once, in front of whichever run is stored there.
  const both = a.store ? [a.place(runIdA), b.word(runIdB)] : [a.word(runIdA), b.place(runIdB)]
  return { a: a.place(runIdA), b: b.place(runIdB), both: both.join(" ") }
}

function tellDiff(
  { terminal }: Session,
  found: RunDiff,
  options: DiffCommandOptions & GlobalOptions,
  places: DiffPlaces,
  behindBytes: number,
): string {
  const paint = terminal.paint
  if (options.html === "-") return diffHtml(found)
  if (options.at !== undefined) {
    const items = itemsAt(found, options.at)
    if (!options.json) return itemsText(found, items, places, paint)
    const { a, b, regime, verdict } = found
    const listed = items.map(({ index, item }) => ({ index, ...item }))
    return safeJson({ v: found.v, regime, verdict, a, b, items: listed, behind_bytes: behindBytes }, 2)
  }
  if (options.json) return safeJson({ ...found, behind_bytes: behindBytes }, 2)

  const all = options.all ? { all: true } : {}
  const next = nextWords(found, places.both)
  if (options.columns || options.tier || (terminal.isOutTerminal && options.budget === undefined)) {
    const text = diffColumns(found, {
      ...all,
      ...(terminal.columns === undefined ? {} : { width: terminal.columns }),
      color: terminal.paint,
      ...(options.tier ? { tiers: options.tier } : {}),
    })
    return next === undefined ? text : `${text}\n${paint(next, "dim")}`
  }
  const budget = options.budget ?? DEFAULT_DIFF_BUDGET
  const left = budget - (next === undefined ? 0 : estimateTokens(next) + 1)
  if (next === undefined || left < MIN_DIFF_BUDGET) return diffText(found, { ...all, budget })
  return `${diffText(found, { ...all, budget: left })}\n${next}`
}

/** The step to look at: where the runs went apart, or first differ. */
function nextWords({ root, first, items }: RunDiff, both: string): string | undefined {
  const item = items[root ?? first ?? -1]
  if (!item) return undefined
  const n = item.a && item.b && item.a.n === item.b.n ? item.a.n : item.a ? `a${item.a.n}` : `b${item.b!.n}`
  return `next: orangebox diff ${both} --at ${n}`
}

function parseStepAt(text: string): StepAt {
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
