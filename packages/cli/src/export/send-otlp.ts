import { InputError } from "@orangebox/contract"
import { decisionsOfReading, readRun } from "@orangebox/decisions"
import { type OtlpTarget, otlpOfRun, type SentRun, sendRun } from "@orangebox/exchange"
import { findTarget, gatherRun, type LoadedRun, type RunReading, runOf } from "@orangebox/reader"
import { plural, recordedWord, safeJson, safeLine, snakeJson } from "@orangebox/text"
import { EXIT } from "../exit-code.js"
import { withRunAt } from "../reading.js"
import type { GlobalOptions, Session } from "../session.js"

export interface OtlpOptions {
  readonly otlp?: string
  readonly content?: boolean
  readonly header?: readonly string[]
}

/** Sends a run and those it started to an OTLP receiver. */
export function sendOverOtlp(
  session: Session,
  options: OtlpOptions & GlobalOptions,
  address: string,
): Promise<number | undefined> {
  const { terminal } = session
  const target = {
    url: options.otlp!,
    headers: headersIn(options.header ?? [], process.env["OTEL_EXPORTER_OTLP_HEADERS"]),
  }
  return withRunAt(session, options, address, async (reading) => {
    const run = await runOf(reading.reader, await findTarget(reading.reader, reading.address))
    const report = await sendWhole(reading, run, target, options.content === true, terminal.progress.update)
    const { logsAsEvents, messages, ...sums } = report
    terminal.progress.clear()
    if (logsAsEvents)
      terminal.say(
        "orangebox: the target takes no logs; decisions, evaluations and logs went along as events of the spans",
      )
    for (const message of messages) terminal.say(`orangebox: the target says: ${message}`)
    terminal.out(
      options.json
        ? safeJson({ ...(snakeJson(report) as object), messages }, 2)
        : [
            `${recordedWord(report.runId, 40)} sent to ${safeLine(target.url)}: ${plural(sums.spans, "span")}, ${plural(sums.records, "record")}${options.content ? ", with content" : ""}`,
            ...(sums.open > 0
              ? [`${plural(sums.open, "step")} without an end not sent: a span is sent when it is over`]
              : []),
            ...(sums.rejected > 0 ? [`${plural(sums.rejected, "of them was", "of them were")} not accepted`] : []),
          ].join("\n"),
    )
    return sums.rejected > 0 ? EXIT.findings : EXIT.fine
  })
}

export interface SentWhole extends SentRun {
  readonly runId: string
  readonly runs: number
  readonly open: number
  readonly target: string
}

/** A run with those it started. */
export async function sendWhole(
  reading: RunReading,
  run: LoadedRun,
  target: OtlpTarget,
  hasContent: boolean,
  onProgress: NonNullable<Parameters<typeof gatherRun>[2]>,
): Promise<SentWhole> {
  const { events, bodies } = await gatherRun(reading, run, onProgress)
  const runIds = [...new Set(events.flatMap(({ run_id }) => run_id ?? []))]
  const sums = { spans: 0, records: 0, requests: 0, rejected: 0, open: 0 }
  const messages = new Set<string>()
  let logsAsEvents = false
  for (const runId of runIds) {
    const own = events.filter(({ run_id }) => run_id === runId)
    const told = otlpOfRun({
      events: own,
      runId,
      body: hasContent ? (hash) => bodies.get(hash) : undefined,
      decisions: decisionsOfReading(readRun({ events: own, bodies: (ref) => bodies.get(ref) })),
    })
    const sent = await sendRun(told, target, { onProgress })
    for (const name of ["spans", "records", "requests", "rejected"] as const) sums[name] += sent[name]
    sums.open += told.open
    for (const message of sent.messages) messages.add(message)
    logsAsEvents ||= sent.logsAsEvents
  }
  return {
    runId: run.row.runId,
    runs: runIds.length,
    ...sums,
    logsAsEvents,
    target: target.url,
    messages: [...messages],
  }
}

/** `name=value`, as typed and as the variable of the OpenTelemetry exporters has them. */
export function headersIn(typed: readonly string[], variable = ""): Record<string, string> {
  const given = variable
    .split(",")
    .filter((pair) => pair.includes("="))
    .map(decoded)
  const headers: Record<string, string> = {}
  for (const pair of [...given, ...typed]) {
    const at = pair.indexOf("=")
    if (at <= 0)
      throw new InputError("USAGE", {
        what: "a header is name=value",
        next: "Give it like --header authorization='Basic …'",
      })
    headers[pair.slice(0, at).trim().toLowerCase()] = pair.slice(at + 1).trim()
  }
  return headers
}

/** A value that is not encoded is one too. */
function decoded(pair: string): string {
  try {
    return decodeURIComponent(pair)
  } catch {
    return pair
  }
}
