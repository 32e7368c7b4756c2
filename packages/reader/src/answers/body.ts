import { given, InputError } from "@orangebox/contract"
import { answerText } from "@orangebox/dialects"
import { markedMode, sliceBody } from "@orangebox/query"
import { estimateTokens, plain, plural, safeText, snakeJson } from "@orangebox/text"
import { type FoundBody, findBody } from "../run/find-body.js"
import type { Answer, Shown } from "./answer.js"
import type { StepAsked } from "./step.js"

export interface BodyAsked {
  /** Its role in the step, or its hash. */
  readonly name: string
  readonly from?: number
  readonly bytes?: number
  readonly pretty?: boolean
}

/** A piece of a body of a step. A streamed answer is put together in the text, unless a piece is asked for. */
export async function answerBody(step: StepAsked, asked: BodyAsked, shown: Shown): Promise<Answer> {
  const { reading, view, n, remarks } = step
  const body = await findBody(reading.reader, view, n, asked.name)
  const isAsItCame = asked.pretty || asked.from !== undefined || asked.bytes !== undefined
  const assembled = isAsItCame || body.role !== "response" ? undefined : answerText(body.bytes)
  return {
    remarks,
    text: () =>
      assembled === undefined ? sliceText(step, body, asked, shown) : assembledText(step, body, assembled, shown),
    json: () => ({ ...sliceJson(step, body, asked, shown), ...reading.freshness }),
    ...(assembled === undefined ? { isVerbatim: true as const } : {}),
  }
}

/** The exact bytes. */
export async function bytesOf(
  { reading, view, n }: StepAsked,
  { name, from = 0, bytes }: BodyAsked,
): Promise<Uint8Array> {
  const body = await findBody(reading.reader, view, n, name)
  checkBeginning(from, body.bytes.length)
  return body.bytes.subarray(from, bytes === undefined ? undefined : from + bytes)
}

/** A streamed answer as the text it adds up to. */
function assembledText(
  { place, n }: StepAsked,
  { hash, bytes, isPartial }: FoundBody,
  text: string,
  { budget, color: paint = plain }: Shown,
): string {
  const partial = isPartial ? " · incomplete: this is what had arrived" : ""
  const head = `response ${hash ?? "(still arriving, or cut off)"}`
  const foot = `put together from ${plural(bytes.length, "byte")}${partial} · as it came: orangebox step ${place}#${n} --body response --from 0`
  const cut = "the rest: raise --budget · "
  const room = budget === undefined ? undefined : budget - estimateTokens(head + cut + foot) - 3
  const shown = room === undefined ? safeText(text) : textWithin(text, room)
  const isCut = shown.length < safeText(text).length
  return [paint(head, "heading"), shown, paint(`${isCut ? cut : ""}${foot}`, "dim")].join("\n")
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

/** An empty slice from behind the end would look like a body that is empty there. */
function checkBeginning(from: number, total: number): void {
  if (from < total || from === 0) return
  throw new InputError("BEYOND_END", {
    what: `--from ${from} is behind the end: there are ${total} bytes, the last one is ${total - 1}`,
    next: "Begin with a smaller --from; bytes count from 0",
  })
}

const modeOf = ({ view, n }: StepAsked): string => {
  const step = view.steps[n - 1]
  return (step && markedMode(step)) ?? "live"
}

/** A slice, and what stands around it in the text, which is paid from the same budget; its caption is in the slice's own. */
function cutFrom(step: StepAsked, body: FoundBody, asked: BodyAsked, { budget }: Shown) {
  const mode = modeOf(step)
  const head = `${mode === "live" ? "" : `[${mode}] `}${body.role} ${body.hash ?? "(still arriving, or cut off)"}`
  const partial = body.isPartial ? " · incomplete: this is what had arrived" : ""
  const indented = asked.pretty ? " --pretty" : ""
  const held = budget === undefined ? "" : ` --budget ${budget}`
  const command = `orangebox step ${step.place}#${step.n} --body ${asked.name}${indented}${held} --from`
  const frame = estimateTokens(`${head}${partial} · next: ${command} ${body.bytes.length}`) + 2
  const from = asked.from ?? 0
  const slice = sliceBody(body.bytes, {
    cursor: from,
    pretty: asked.pretty ?? false,
    ...given({ maxBytes: asked.bytes, budget: budget === undefined ? undefined : budget - frame }),
  })
  checkBeginning(from, slice.total)
  return { slice, head, partial, command }
}

function sliceText(step: StepAsked, body: FoundBody, asked: BodyAsked, shown: Shown): string {
  const { slice, head, partial, command } = cutFrom(step, body, asked, shown)
  const paint = shown.color ?? plain
  const more = slice.nextCursor === undefined ? "" : ` · next: ${command} ${slice.nextCursor}`
  return `${paint(head, "heading")}\n${slice.text}\n${paint(`${slice.caption}${partial}${more}`, "dim")}`
}

function sliceJson(step: StepAsked, body: FoundBody, asked: BodyAsked, shown: Shown): object {
  const { form, from, to, total, text, nextCursor: nextFrom } = cutFrom(step, body, asked, shown).slice
  const { hash, role, mime, isPartial } = body
  return snakeJson({ hash, role, mode: modeOf(step), mime, isPartial, form, from, to, total, nextFrom, text })
}
