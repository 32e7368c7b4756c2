import { answerText } from "@orangebox/dialects"
import { bodiesOf, type RunView, type StepContent, type StepView } from "@orangebox/query"
import { isAbsent } from "@orangebox/store"
import { formatBytes, prettyJsonText } from "@orangebox/text"
import type { RunReader } from "../open/run-reader.js"

/** What was said in a step, as a person reads it: the assembled answer, the arguments, the whole output, the exception. */
export async function stepContents(reader: RunReader, view: RunView, n: number): Promise<StepContent[]> {
  const step = view.steps[n - 1]
  if (!step) return []
  const contents: StepContent[] = []
  for (const body of bodiesOf(step.events)) {
    const title = TITLES.get(body.role)
    if (title === undefined || contents.some((content) => content.body === body.role)) continue
    const reading = await reader.readBody(body.hash)
    contents.push(
      isAbsent(reading)
        ? { title, body: body.role, text: undefined, note: `not here: ${reading.absent.replace("_", " ")}` }
        : contentOf(title, body.role, reading.bytes),
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
  for (const stream of step.partials.length === 0 ? [] : await reader.partialStreamsOf(view.runId ?? "")) {
    const title = TITLES.get(stream.role)
    const bytes = stream.stepId === step.id && title ? await reader.readPartialStream(stream.streamId) : undefined
    if (bytes)
      contents.push({
        ...contentOf(title!, stream.role, bytes),
        note: `as far as it came, ${formatBytes(bytes.length)}`,
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

/** A recorded error is a list, the error itself and then its causes, each with the stack it came with. */
function exceptionText(text: string): string | undefined {
  const causes = parsed(text)
  if (!Array.isArray(causes)) return undefined
  const lines = causes.map((cause: { class?: unknown; message?: unknown; stack?: unknown } | null) =>
    typeof cause?.stack === "string" ? cause.stack : `${cause?.class ?? "?"}: ${cause?.message ?? "?"}`,
  )
  return lines.join("\ncaused by ")
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
