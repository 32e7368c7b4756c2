import { canonicalJson } from "@orangebox/contract"
import type { RunTeller, ToldStep } from "../run-teller.js"
import { jsonText, listOf, recordOf } from "../told-values.js"
import { indexed, parsed } from "./messages.js"
import { textFact } from "./names.js"
import type { Attributes, PlainSpan } from "./plain.js"
import { endOf, flat, jsonBody, latencyOf, nameOrNull, OTLP, textBody } from "./span-values.js"

/** What a step holds beside its open and close: retrievals, verdicts, evaluations, logs. */

export function tellRetrieval(teller: RunTeller, step: ToldStep, span: PlainSpan): void {
  const { attributes } = span
  const documents =
    listOf(parsed(attributes["gen_ai.retrieval.documents"])).length > 0
      ? listOf(parsed(attributes["gen_ai.retrieval.documents"]))
      : (indexed(attributes, "retrieval.documents", "document") ??
        indexed(attributes, "reranker.output_documents", "document") ??
        [])
  const candidates = documents.map(recordOf).map((document, rank) => ({
    rank,
    chunk_id: nameOrNull(document["id"]),
    document_id: nameOrNull(document["id"]),
    score: typeof document["score"] === "number" ? document["score"] : null,
    source_uri: null,
    content_ref: null,
  }))
  teller.within("retrieval_executed", step, {
    key: span.spanId,
    atMs: endOf(span),
    payload: {
      retriever_id: span.name.slice(0, 512) || "retriever",
      retriever_version: null,
      top_k: null,
      filters: {},
      candidate_count: candidates.length,
      latency_ms: latencyOf(span),
    },
    bodies: [
      textBody("query_text", textFact(attributes, "query") ?? ""),
      { field: "candidate_list", content: canonicalJson(candidates), mimeType: "application/json" },
    ],
  })
  if (documents.length > 0)
    teller.within("log", step, {
      key: `${span.spanId}\0documents`,
      atMs: endOf(span),
      payload: { level: "info", message: `${documents.length} documents` },
      bodies: [jsonBody("body", documents)],
    })
}

/** Only where the span says what was decided: a guardrail of which nothing more is known has not let anything pass. */
export function tellGuardrail(teller: RunTeller, step: ToldStep, span: PlainSpan): void {
  const said = String(span.attributes["guardrail.decision"] ?? span.attributes["output.value"] ?? "").toLowerCase()
  const decision = /\b(?:block|deny|denied|fail|reject)/.test(said)
    ? "block"
    : /\b(?:allow|pass|ok)\b/.test(said)
      ? "allow"
      : undefined
  if (decision === undefined) return
  teller.within("safety_decision", step, {
    key: span.spanId,
    atMs: endOf(span),
    payload: { policy_name: span.name.slice(0, 512) || "guardrail", policy_version: null, decision, reason_ref: null },
    inferredBy: OTLP,
  })
}

export function tellEvaluation(
  teller: RunTeller,
  step: ToldStep,
  span: PlainSpan | undefined,
  key: string,
  attributes: Attributes,
  atMs: number,
): void {
  const score = attributes["gen_ai.evaluation.score.value"] ?? attributes["eval.score"]
  const label = String(attributes["gen_ai.evaluation.score.label"] ?? attributes["eval.label"] ?? "").toLowerCase()
  const quality = /^(?:pass|passed|correct|true)$/.test(label)
    ? "pass"
    : /^(?:fail|failed|incorrect|false)$/.test(label)
      ? "fail"
      : "unknown"
  const explanation = attributes["gen_ai.evaluation.explanation"] ?? (span && textFact(span.attributes, "runOutput"))
  teller.within("evaluation", step, {
    key,
    atMs,
    payload: {
      evaluator: String(attributes["gen_ai.evaluation.name"] ?? "evaluation").slice(0, 512) || "evaluation",
      subject_step_id: step.id,
      alignment: "unknown",
      quality,
      policy: "unknown",
      score: typeof score === "number" && Number.isFinite(score) ? score : null,
      evaluation_ref: null,
    },
    bodies: [explanation === undefined ? undefined : textBody("evaluation", jsonText(explanation))],
    ...(label === "" ? {} : { attributes: { label } }),
  })
}

const MESSAGE_EVENT =
  /^gen_ai\.(?:(?:system|user|assistant|tool)\.message|choice|client\.inference\.operation\.details|content\.(?:prompt|completion))$/

export function tellEvent(
  teller: RunTeller,
  step: ToldStep,
  event: {
    readonly name: string
    readonly atMs: number
    readonly attributes: Attributes
    readonly severity: number
    readonly body: unknown
  },
  key: string,
  otherwiseMs: number,
): void {
  const atMs = event.atMs || otherwiseMs
  // Part of the call's messages by now.
  if (MESSAGE_EVENT.test(event.name) && step.kind === "model") return
  if (event.name === "gen_ai.evaluation.result") {
    tellEvaluation(teller, step, undefined, key, event.attributes, atMs)
    return
  }
  const isException = event.name === "exception"
  const said = event.body === undefined ? "" : jsonText(event.body)
  const message = isException
    ? `${String(event.attributes["exception.type"] ?? "exception")}: ${String(event.attributes["exception.message"] ?? "")}`
    : said === ""
      ? event.name || "event"
      : event.name === ""
        ? said
        : `${event.name}: ${said}`
  const trace = event.attributes["exception.stacktrace"]
  teller.within("log", step, {
    key,
    atMs,
    payload: { level: isException ? "error" : levelOf(event.severity), message: "" },
    summaries: { message },
    bodies: [
      typeof trace === "string" ? textBody("error", trace) : undefined,
      message.length > 200 ? textBody("body", message) : undefined,
    ],
    attributes: flat(event.attributes),
  })
}

export const levelOf = (severity: number): "debug" | "info" | "warn" | "error" =>
  severity === 0 ? "info" : severity <= 8 ? "debug" : severity <= 12 ? "info" : severity <= 16 ? "warn" : "error"
