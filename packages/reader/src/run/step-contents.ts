import { asRecord, type LoosePayload, listIn } from "@orangebox/contract"
import { answerText } from "@orangebox/dialects"
import { bodiesOf, type RunView, type StepContent, type StepView, withheldWords } from "@orangebox/query"
import { isAbsent } from "@orangebox/store"
import { formatBytes, prettyJsonText } from "@orangebox/text"
import type { RunReader } from "../open/run-reader.js"
import { absenceOf } from "./body-absence.js"
import { partialStreamsOf } from "./find-body.js"

/** What was said in a step, as a person reads it: the assembled answer, the arguments, the whole output, the exception. */
export async function stepContents(reader: RunReader, view: RunView, n: number): Promise<StepContent[]> {
  const step = view.steps[n - 1]
  if (!step) return []
  const contents: StepContent[] = []
  for (const body of bodiesOf(step.events)) {
    const title = TITLES.get(body.role)
    if (title === undefined || contents.some((content) => content.body === body.role)) continue
    const reading = await reader.readBody(body.hash)
    if (isAbsent(reading)) {
      const note = `not here: ${absenceOf(body.absent, reading).word}`
      contents.push({ title, body: body.role, text: undefined, note })
      continue
    }
    const content = contentOf(title, body.role, reading.bytes)
    // The same bytes may be kept by another step, or by a fault that needed them.
    const isFromElsewhere = body.absent !== undefined && content.note === undefined
    contents.push(
      isFromElsewhere ? { ...content, note: "not kept with this step; the same bytes are stored elsewhere" } : content,
    )
  }
  for (const content of await partialContents(reader, view, step)) {
    if (!contents.some(({ body }) => body === content.body)) contents.push(content)
  }
  return contents
}

/** Bodies a person asks for first, by the name of their role. A request is its context, which `orangebox context` shows. */
const TITLES: ReadonlyMap<string, string> = new Map([
  ["input", "input"],
  ["input_summary", "input"],
  ["args", "arguments"],
  ["response", "answer"],
  ["result", "output"],
  ["output", "output"],
  ["body", "body"],
  ["error", "exception"],
  ["error_message", "exception"],
])

async function partialContents(reader: RunReader, view: RunView, step: StepView): Promise<StepContent[]> {
  const contents: StepContent[] = []
  for (const stream of await partialStreamsOf(reader, view, step)) {
    const title = TITLES.get(stream.role)
    const bytes = title && (await reader.readPartialStream(stream.streamId))
    if (bytes)
      contents.push({
        ...contentOf(title!, stream.role, bytes),
        note: [
          `as far as it came, ${formatBytes(bytes.length)}`,
          ...(stream.withheldBytes > 0 ? [withheldWords(stream.withheldBytes)] : []),
        ].join("; "),
      })
  }
  return contents
}

function contentOf(title: string, role: string, bytes: Uint8Array): StepContent {
  const assembled = role === "response" ? answerText(bytes) : undefined
  if (assembled !== undefined) return { title, body: role, text: assembled }
  const text = new TextDecoder("utf-8", { fatal: false }).decode(bytes)
  if (text.includes("\0")) return { title, body: role, text: undefined, note: `${formatBytes(bytes.length)}, not text` }
  return { title, body: role, text: (title === "exception" ? exceptionText(text) : undefined) ?? spoken(text) }
}

/** A recorded error is a list, the error itself and then its causes, each with the stack it came with and the errors it holds. */
function exceptionText(text: string): string | undefined {
  const causes = parsed(text)
  return Array.isArray(causes) ? chainText(causes) : undefined
}

function chainText(causes: readonly unknown[]): string {
  return causes.map((cause) => linkText(asRecord(cause) ?? {})).join("\ncaused by ")
}

function linkText(link: LoosePayload): string {
  const { class: name, message, stack, message_length: length, more } = link
  const isCut = typeof length === "number"
  const head = `${name ?? "?"}: ${message ?? "?"}${isCut ? `… (${length} characters)` : ""}`
  const told = typeof stack !== "string" ? head : isCut ? `${head}\n${stack}` : stack
  const inner = listIn(link, "errors").map((chain, at) => {
    const lines = Array.isArray(chain) ? chainText(chain) : "?"
    return `\n  [${at}] ${lines.replaceAll("\n", "\n      ")}`
  })
  return `${told}${inner.join("")}${typeof more === "number" ? `\n  … ${more} more` : ""}`
}

/** A recorded string is what it says; other JSON is indented; anything else is as it came. */
function spoken(text: string): string {
  const value = parsed(text)
  if (value === undefined) return text
  return typeof value === "string" ? value : prettyJsonText(text)
}

function parsed(text: string): unknown {
  if (!/^\s*[[{"]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
