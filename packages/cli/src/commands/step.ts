import { randomBytes } from "node:crypto"
import { given, InputError } from "@orangebox/contract"
import { answerText } from "@orangebox/dialects"
import {
  BRIEF_BUDGET,
  beforeAfterOf,
  beforeAfterText,
  briefJson,
  briefText,
  compareBeforeAfter,
  DEFAULT_SLICE_BUDGET,
  MIN_STEP_BUDGET,
  markedMode,
  type RunView,
  type StepView,
  sliceBody,
  stepJson,
  stepText,
} from "@orangebox/query"
import {
  briefParts,
  type FoundBody,
  findBody,
  findTarget,
  type RunReader,
  runOf,
  stepContents,
} from "@orangebox/reader"
import type { Target } from "@orangebox/store"
import { estimateTokens, plural, recordedWord, safeJson, safeText, snakeJson } from "@orangebox/text"
import type { Command } from "commander"
import { pasteable, shellWord } from "../next-command.js"
import { budgetParser, parseCount, parsePositive } from "../option-values.js"
import { type PlacedReading, withRunAt } from "../reading.js"
import { bindShell, type GlobalOptions, type Session, wrongUsage } from "../session.js"
import { type ViewFlags, viewOptions } from "../view-options.js"

interface StepCommandOptions extends ViewFlags {
  readonly brief?: boolean
  readonly body?: string
  readonly from?: number
  readonly bytes?: number
  readonly pretty?: boolean
  readonly raw?: boolean
  readonly force?: boolean
  readonly beforeAfter?: boolean
}

export function define(command: Command, session: Session): void {
  command
    .description("Show one step, what was said in it first, or read one of its bodies.")
    .argument(
      "[address]",
      "last#13, run_01JT9#13, ./run.obxrun#13, a step id, or any id that stands in a step",
      "last#1",
    )
    .option("--budget <tokens>", `at most so many tokens, at least ${MIN_STEP_BUDGET}`, budgetParser(MIN_STEP_BUDGET))
    .option("--cursor <n>", "the row to begin with", parseCount)
    .option(
      "--brief",
      `the step in at most ${BRIEF_BUDGET} tokens, or those of --budget: what it was asked, what changed, what was said`,
    )
    .option("--all", "every recorded row, also hashes, nulls and ids of events")
    .option("--markdown", "as a fenced Markdown block")
    .option("--body <name>", "read a body instead: request, response, args, result … or a sha256 hash")
    .option("--from <byte>", "where in the body to begin, in bytes as it came", parseCount)
    .option("--bytes <n>", `so many bytes of it; default: about ${DEFAULT_SLICE_BUDGET} tokens`, parsePositive)
    .option("--pretty", "indent a JSON body; --from then counts bytes of the indented text")
    .option("--raw", "the exact bytes, for a pipe or a file")
    .option("--force", "with --raw: even to a terminal")
    .option("--before-after", "what changed between the prompt the application built and what was sent")
  bindShell<StepCommandOptions>(command, session, showStep, [
    ["orangebox step last#4", "step 4 of the last run"],
    ["orangebox step last#4 --brief", "the same in a few lines, for an agent"],
    ["orangebox step last#4 --body response", "what the model answered, put together from its stream"],
    ["orangebox step last#4 --body response --from 0", "the same as it came, byte by byte"],
    ["orangebox step last#4 --body request --pretty", "what it was sent, indented"],
    ["orangebox step last#4 --body request --raw > request.json", "the exact bytes"],
    ["orangebox step last#4 --before-after", "what a transform did to the prompt"],
  ])
}

function showStep(
  session: Session,
  options: StepCommandOptions & GlobalOptions,
  address = "last#1",
): Promise<number | undefined> {
  if (options.body === undefined && (options.raw || options.bytes !== undefined || options.pretty)) {
    throw wrongUsage("--raw, --bytes and --pretty are about a body", "Say which with --body")
  }
  checkBrief(options)
  return withRunAt(session, options, address, async (reading) => {
    const { reader, freshness } = reading
    const { terminal } = session
    const target = await findTarget(reader, reading.address)
    const run = await runOf(reader, target)
    const n = numberOf(run.view, target.stepId)
    await sayOtherPlaces(session, reading, target, options)
    const place = reading.place(run.row.runId)
    if (options.brief) {
      const parts = await briefParts(reader, reading.store, run.view, n)
      const shown = { address: place, nonce: randomBytes(2).toString("hex"), ...given({ budget: options.budget }) }
      terminal.out(
        options.json
          ? safeJson({ ...briefJson(run.view, n, parts), ...freshness }, 2)
          : briefText(run.view, n, parts, shown),
      )
      return undefined
    }
    if (options.beforeAfter) {
      await showBeforeAfter(session, reader, run.view, n, { ...options, freshness })
      return undefined
    }
    if (options.body !== undefined) {
      const body = await findBody(reader, run.view, n, options.body)
      const slice = { from: options.from ?? 0, bytes: options.bytes, pretty: options.pretty ?? false }
      const isAsItCame = options.raw || options.pretty || options.from !== undefined || options.bytes !== undefined
      const assembled = isAsItCame || options.json || body.role !== "response" ? undefined : answerText(body.bytes)
      if (assembled !== undefined) showAssembled(session, body, assembled, `${place}#${n}`, options.budget)
      else if (options.raw) writeRaw(session, body, slice, options.force ?? false)
      else
        showSlice(session, body, slice, { ...options, place: `${place}#${n}`, step: run.view.steps[n - 1], freshness })
      return undefined
    }
    const view = {
      ...viewOptions(session, options),
      address: place,
      ...(options.json ? {} : { contents: await stepContents(reader, run.view, n) }),
    }
    terminal.out(
      options.json ? safeJson({ ...stepJson(run.view, n, view), ...freshness }, 2) : stepText(run.view, n, view),
    )
    return undefined
  })
}

/** An id that others chose may stand in several steps; this command shows the first. */
async function sayOtherPlaces(
  { terminal }: Session,
  { store, address }: PlacedReading,
  { kind, id }: Target,
  options: GlobalOptions,
): Promise<void> {
  if (!store || kind === "run" || kind === "step" || kind === "trace") return
  const { total } = await store.occurrencesOf(kind, id, { limit: 1 })
  if (total < 2) return
  const all = `orangebox show ${pasteable(options, shellWord(address))} --places`
  terminal.say(`orangebox: ${recordedWord(address, 72)} stands in ${total} steps, this is one of them; all: ${all}`)
}

function checkBrief({ brief, all, body, beforeAfter, cursor, markdown, raw, budget }: StepCommandOptions): void {
  if (brief && (all || body !== undefined || beforeAfter || cursor !== undefined || markdown))
    throw wrongUsage(
      "--brief is the step in a few lines; the other options are about more of it",
      "Ask for one of them",
    )
  if (raw && budget !== undefined)
    throw wrongUsage("--raw gives the exact bytes, and --budget would cut them", "Say how many with --bytes")
}

async function showBeforeAfter(
  { terminal }: Session,
  reader: RunReader,
  view: RunView,
  n: number,
  options: { json?: boolean; budget?: number; freshness: object },
): Promise<void> {
  const refs = beforeAfterOf(view, n)
  const [before, after] = await Promise.all(
    [refs.before, refs.after].map(async ({ n: at, hash }) => findBody(reader, view, at, hash)),
  )
  const comparison = compareBeforeAfter(textOf(before!), textOf(after!))
  terminal.out(
    options.json
      ? safeJson({ ...refs, is_equal: comparison.isEqual, changes: comparison.changes, ...options.freshness }, 2)
      : `#${refs.before.n} as built, #${refs.after.n} as sent\n${beforeAfterText(comparison, given({ budget: options.budget }))}`,
  )
}

/** A streamed answer as the text it adds up to. */
function showAssembled(
  { terminal }: Session,
  { hash, bytes, isPartial }: FoundBody,
  text: string,
  place: string,
  budget: number | undefined,
): void {
  const paint = terminal.paint
  const partial = isPartial ? " · incomplete: this is what had arrived" : ""
  const head = `response ${hash ?? "(still arriving, or cut off)"}`
  const foot = `put together from ${plural(bytes.length, "byte")}${partial} · as it came: orangebox step ${place} --body response --from 0`
  const cut = "the rest: raise --budget · "
  const room = budget === undefined ? undefined : budget - estimateTokens(head + cut + foot) - 3
  const shown = room === undefined ? safeText(text) : textWithin(text, room)
  const isCut = shown.length < safeText(text).length
  terminal.out([paint(head, "heading"), shown, paint(`${isCut ? cut : ""}${foot}`, "dim")].join("\n"))
}

/** As much of a text as so many tokens hold, safe to print. */
function textWithin(text: string, tokens: number): string {
  const safe = safeText(text)
  let [fits, tooLong] = [0, safe.length + 1]
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2)
    if (estimateTokens(safe.slice(0, middle)) <= tokens) fits = middle
    else tooLong = middle
  }
  return safe.slice(0, fits).replace(/[\ud800-\udbff]$/, "")
}

const textOf = ({ bytes }: FoundBody): string => Buffer.from(bytes).toString("utf8")

/** An address that names only a run means the run's root step. */
function numberOf(view: RunView, stepId: string | null): number {
  return view.steps.find(({ id }) => id === stepId)?.n ?? 1
}

interface Cut {
  readonly from: number
  readonly bytes: number | undefined
  readonly pretty: boolean
}

function writeRaw({ terminal }: Session, body: FoundBody, { from, bytes }: Cut, isForced: boolean): void {
  if (terminal.isOutTerminal && !isForced) {
    throw new InputError("RAW_TO_TERMINAL", {
      what: "recorded bytes may hold codes that take over a terminal",
      next: "Send them to a file or a pipe, read them without --raw, or insist with --force",
    })
  }
  checkBeginning(from, body.bytes.length)
  terminal.outBytes(body.bytes.subarray(from, bytes === undefined ? undefined : from + bytes))
}

/** An empty slice from behind the end would look like a body that is empty there. */
function checkBeginning(from: number, total: number): void {
  if (from < total || from === 0) return
  throw new InputError("BEYOND_END", {
    what: `--from ${from} is behind the end: there are ${total} bytes, the last one is ${total - 1}`,
    next: "Begin with a smaller --from; bytes count from 0",
  })
}

function showSlice(
  { terminal }: Session,
  body: FoundBody,
  cut: Cut,
  options: {
    json?: boolean
    place: string
    body?: string
    budget?: number
    step: StepView | undefined
    freshness: object
  },
): void {
  const { hash, role, mime, isPartial } = body
  const mode = (options.step && markedMode(options.step)) ?? "live"
  const what = `${mode === "live" ? "" : `[${mode}] `}${role} ${hash ?? "(still arriving, or cut off)"}`
  const partial = isPartial ? " · incomplete: this is what had arrived" : ""
  const indented = cut.pretty ? " --pretty" : ""
  const held = options.budget === undefined ? "" : ` --budget ${options.budget}`
  const command = `orangebox step ${options.place} --body ${options.body}${indented}${held} --from`
  // What stands around the slice is paid from the same budget; its caption is in the slice's own.
  const frame = estimateTokens(`${what}${partial} · next: ${command} ${body.bytes.length}`) + 2
  const slice = sliceBody(body.bytes, {
    cursor: cut.from,
    pretty: cut.pretty,
    ...given({ maxBytes: cut.bytes, budget: options.budget === undefined ? undefined : options.budget - frame }),
  })
  checkBeginning(cut.from, slice.total)
  if (options.json) {
    const { form, from, to, total, text } = slice
    const json = snakeJson({
      hash,
      role,
      mode,
      mime,
      isPartial,
      form,
      from,
      to,
      total,
      nextFrom: slice.nextCursor,
      text,
    })
    terminal.out(safeJson({ ...json, ...options.freshness }, 2))
    return
  }
  const paint = terminal.paint
  const more = slice.nextCursor === undefined ? "" : ` · next: ${command} ${slice.nextCursor}`
  terminal.outVerbatim(`${paint(what, "heading")}\n${slice.text}\n${paint(`${slice.caption}${partial}${more}`, "dim")}`)
}
