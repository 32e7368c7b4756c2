// A ~500-byte event, durable against SIGKILL when the call returns: against the bare write of the same bytes, a pino child logger with the
// same values bound, and an OpenTelemetry span exported over OTLP/HTTP to a sink on this machine.
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http"
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { Recorder } from "@orangebox/recorder"
import pino from "pino"
import { compare, micros, row, times } from "./measure.mjs"

export const title = "Durable emit of a ~500-byte event"

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-bench-"))
  // The contenders do not sync, and none of this is needed against SIGKILL: the comparison is without, the default once a second beside it.
  // They redact nothing either: what that adds is a line of its own.
  const plain = { app: "bench", capture: "full", allowFull: true }
  const recorder = Recorder.open({ ...plain, folder: join(folder, "data"), journal: { fsync: "never" } })
  const syncing = Recorder.open({ ...plain, folder: join(folder, "synced") })
  const redacting = Recorder.open({ app: "bench", folder: join(folder, "redacted"), journal: { fsync: "never" } })
  const redactedStep = redacting.startRun({ entrypoint: "bench", conversationId: "conversation-1" }).step("work")
  const syncedStep = syncing.startRun({ entrypoint: "bench", conversationId: "conversation-1" }).step("work")
  const step = recorder.startRun({ entrypoint: "bench", conversationId: "conversation-1" }).step("work")
  step.log.info("file read", { bytes: 12345, path: "src/date.ts" })

  const journal = join(folder, "data/journal")
  const line = readFileSync(
    join(
      journal,
      readdirSync(journal).find((name) => name.endsWith(".ndjson")),
    ),
    "utf8",
  )
    .trimEnd()
    .split("\n")
    .at(-1)
  const bytes = Buffer.from(`${line}\n`)
  const bare = openSync(join(folder, "bare.log"), "a")

  const envelope = JSON.parse(line).e
  const pinoChild = pino({ base: null }, pino.destination({ dest: join(folder, "pino.log"), sync: true })).child({
    schema_version: envelope.schema_version,
    trace_id: envelope.trace_id,
    run_id: envelope.run_id,
    step_id: envelope.step_id,
    parent_step_id: envelope.parent_step_id,
    actor_type: envelope.actor_type,
    determinism_mode: envelope.determinism_mode,
    source: envelope.source,
    conversation_id: envelope.conversation_id,
    redaction_status: envelope.redaction_status,
    artifact_refs: [],
  })

  const otlp = await otlpSink()
  const provider = new BasicTracerProvider({
    spanProcessors: [
      new BatchSpanProcessor(new OTLPTraceExporter({ url: otlp.url }), {
        maxQueueSize: 10_000,
        maxExportBatchSize: 512,
      }),
    ],
  })
  const tracer = provider.getTracer("bench")

  const found = await compare({
    bare: () => writeSync(bare, bytes, 0, bytes.length),
    ours: (i) => step.log.info("file read", { bytes: i, path: "src/date.ts" }),
    synced: (i) => syncedStep.log.info("file read", { bytes: i, path: "src/date.ts" }),
    redacted: (i) => redactedStep.log.info("file read", { bytes: i, path: "src/date.ts" }),
    pino: (i) =>
      pinoChild.info(
        { event_id: envelope.event_id, sequence_no: i, mono_us: i, attributes: { bytes: i, path: "src/date.ts" } },
        "file read",
      ),
  })
  const otel = await spanCost(tracer, provider, envelope)

  recorder.close()
  syncing.close()
  redacting.close()
  closeSync(bare)
  await provider.shutdown()
  otlp.close()
  rmSync(folder, { recursive: true, force: true })

  const { ours } = found
  return [
    row("one event", `${bytes.length} bytes`),
    row("bare write(2) of the same bytes", micros(found.bare)),
    row("orangebox: step.log.info with two attributes", micros(ours)),
    row("orangebox, synced once a second (the default)", micros(found.synced)),
    row("orangebox, redacted (the default)", micros(found.redacted)),
    row("pino child logger, sync", micros(found.pino)),
    row("OpenTelemetry span, OTLP/HTTP export included", micros(otel)),
    row("orangebox : bare write", times(ours / found.bare), "≤ 4 ×", ours / found.bare <= 4),
    row("what redaction adds", times(found.redacted / ours)),
    row("orangebox : pino", times(ours / found.pino), "≤ 1 ×", ours <= found.pino),
    row("orangebox : OpenTelemetry", times(ours / otel), "≤ 0.4 ×", ours / otel <= 0.4),
  ]
}

// A span costs at its end and again when it is exported, in the same process: both belong to its price.
async function spanCost(tracer, provider, envelope) {
  const attributes = {
    path: "src/date.ts",
    run_id: envelope.run_id,
    step_id: envelope.step_id,
    source: envelope.source,
  }
  const batch = 500
  const batches = 40
  let nanos = 0n
  for (let round = -4; round < batches; round++) {
    const start = process.hrtime.bigint()
    for (let i = 0; i < batch; i++) tracer.startSpan("file read", { attributes: { ...attributes, bytes: i } }).end()
    await provider.forceFlush()
    if (round >= 0) nanos += process.hrtime.bigint() - start
  }
  return Number(nanos) / (batch * batches)
}

function otlpSink() {
  return new Promise((resolve) => {
    const server = createServer((request, response) => {
      request.resume()
      request.on("end", () => response.writeHead(200, { "content-type": "application/json" }).end("{}"))
    })
    server.listen(0, "127.0.0.1", () =>
      resolve({ url: `http://127.0.0.1:${server.address().port}/v1/traces`, close: () => server.close() }),
    )
  })
}
