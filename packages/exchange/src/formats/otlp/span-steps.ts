import type { RunTeller, Told, ToldStep } from "../run-teller.js"
import { jsonText, recordOf } from "../told-values.js"
import { messagesOf, parsed, textIn, toolsAskedIn } from "./messages.js"
import { countFact, factOf, numberFact, textFact } from "./names.js"
import type { Attributes, PlainLog, PlainSpan } from "./plain.js"
import { errorOf, finishReasonOf, type SpanMeaning, usageOf } from "./read-span.js"
import { tellEvaluation, tellGuardrail, tellRetrieval } from "./span-events.js"
import { endOf, jsonBody, latencyOf, OTLP, textBody, textOfFact } from "./span-values.js"

/** What each kind of span becomes: a step, opened now and closed when its children are told. */

export type Opening = Told & { readonly stepId: string }

export function openModel(
  teller: RunTeller,
  span: PlainSpan,
  parent: ToldStep,
  told: Opening,
  logs: readonly PlainLog[],
): { step: ToldStep; end: () => void } {
  const attributes = withSettings(span.attributes)
  const provider = (textFact(attributes, "provider") ?? "unknown").slice(0, 512)
  const model = textFact(attributes, "requestModel") ?? textFact(attributes, "responseModel") ?? null
  const { input, output, tools } = messagesOf(span, logs)
  const request =
    input === null && tools === undefined
      ? { request: "not in the record" }
      : { messages: input, ...(tools === undefined ? {} : { tools }) }
  const step = teller.open("model", model ?? provider, parent, {
    ...told,
    payload: {
      provider,
      model_id: model === null ? null : model.slice(0, 512),
      model_api_version: null,
      temperature: numberFact(attributes, "temperature"),
      top_p: numberFact(attributes, "topP"),
      max_tokens: countFact(attributes, "maxTokens"),
      seed: numberFact(attributes, "seed"),
      ...(typeof factOf(attributes, "stream") === "boolean" ? { stream: factOf(attributes, "stream") } : {}),
    },
    bodies: [jsonBody("request", request)],
  })
  const { usage, isAdded } = usageOf(attributes)
  const error = errorOf(span)
  const asked = toolsAskedIn(output)
  const text = textIn(output)
  const firstChunk = numberFact(attributes, "firstChunkSeconds")
  const end = (): void =>
    teller.close(step, {
      key: span.spanId,
      atMs: endOf(span),
      payload: {
        provider,
        model_id: (textFact(attributes, "responseModel") ?? model)?.slice(0, 512) ?? null,
        finish_reason: finishReasonOf(attributes),
        token_usage: usage,
        response_ref: null,
        latency_ms: latencyOf(span),
        status: error === undefined ? "success" : "error",
        ...(error === undefined ? {} : { error_class: error.errorClass }),
        ...(firstChunk === null || firstChunk < 0 ? {} : { first_byte_ms: firstChunk * 1000 }),
        ...(textFact(attributes, "responseId") === undefined
          ? {}
          : { provider_request_id: textFact(attributes, "responseId")!.slice(0, 512) }),
        ...(asked.length === 0
          ? {}
          : {
              requested_tools: asked.map(({ name }) => name.slice(0, 512) || "?"),
              requested_tool_ids: asked.map(({ id }) => id?.slice(0, 512) ?? null),
            }),
      },
      bodies: [
        output === null ? undefined : jsonBody("response", { messages: output }),
        error === undefined ? undefined : textBody("error", error.message),
      ],
      summaries: {
        ...(text === "" ? {} : { output_summary: text }),
        ...(error === undefined ? {} : { error_summary: error.message }),
      },
      ...(isAdded
        ? {
            attributes: { "otlp.usage": "cached tokens were counted beside the input, and are added to it" },
            inferredBy: OTLP,
          }
        : {}),
      ...(told.inferredBy === undefined ? {} : { inferredBy: told.inferredBy }),
    })
  return { step, end }
}

/** OpenInference has what was asked for in one JSON text, and under its own name the model that answered. */
function withSettings(attributes: Attributes): Attributes {
  const settings = recordOf(parsed(attributes["llm.invocation_parameters"]))
  const asked = {
    model: settings["model"],
    temperature: settings["temperature"],
    top_p: settings["top_p"],
    max_tokens: settings["max_tokens"],
    seed: settings["seed"],
  }
  const given = Object.entries(asked).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [[`gen_ai.request.${name}`, value]],
  )
  return given.length === 0 ? attributes : { ...Object.fromEntries(given), ...attributes }
}

export function openTool(
  teller: RunTeller,
  span: PlainSpan,
  parent: ToldStep,
  told: Opening,
): { step: ToldStep; end: () => void } {
  const { attributes } = span
  const name =
    (textFact(attributes, "toolName") ?? span.name.replace(/^(?:execute_tool|running tool:?) /, "")).slice(0, 512) ||
    "?"
  const callId = textFact(attributes, "toolCallId")?.slice(0, 512)
  const step = teller.open("tool", name, parent, {
    ...told,
    payload: {
      tool_name: name,
      tool_version: null,
      timeout_ms: null,
      ...(callId === undefined ? {} : { tool_call_id: callId }),
    },
    bodies: [
      { field: "args", content: jsonText(factOf(attributes, "toolArguments") ?? {}), mimeType: "application/json" },
    ],
  })
  const error = errorOf(span)
  const result = factOf(attributes, "toolResult")
  const text = result === undefined ? undefined : jsonText(result)
  const end = (): void =>
    teller.close(step, {
      key: span.spanId,
      atMs: endOf(span),
      payload: {
        tool_name: name,
        status: error === undefined ? "success" : "error",
        result_ref: null,
        error_class: error?.errorClass ?? null,
        error_message_ref: null,
        latency_ms: latencyOf(span),
        ...(callId === undefined ? {} : { tool_call_id: callId }),
      },
      bodies: [
        text === undefined ? undefined : textBody("result", text),
        error === undefined ? undefined : textBody("error_message", error.message),
      ],
      summaries: {
        ...(text === undefined ? {} : { result_summary: text }),
        ...(error === undefined ? {} : { error_summary: error.message }),
      },
      ...(told.inferredBy === undefined ? {} : { inferredBy: told.inferredBy }),
    })
  return { step, end }
}

export function openStep(
  teller: RunTeller,
  span: PlainSpan,
  parent: ToldStep,
  told: Opening,
  meaning: SpanMeaning,
): { step: ToldStep; end: () => void } {
  const { attributes } = span
  const input = textOfFact(attributes, "runInput")
  const name =
    ((meaning.kind === "agent" ? textFact(attributes, "agentName") : undefined) ?? span.name).slice(0, 512) || "span"
  const step = teller.open("step", name, parent, {
    ...told,
    payload: { name, kind: meaning.work },
    bodies: [input === undefined || meaning.kind === "retrieval" ? undefined : textBody("body", input)],
  })
  if (meaning.kind === "retrieval") tellRetrieval(teller, step, span)
  if (meaning.kind === "guardrail") tellGuardrail(teller, step, span)
  if (meaning.kind === "evaluator")
    tellEvaluation(
      teller,
      step,
      span,
      `${span.spanId}\0evaluation`,
      { ...attributes, "gen_ai.evaluation.name": span.name },
      endOf(span),
    )
  const error = errorOf(span)
  const output = textOfFact(attributes, "runOutput")
  const end = (): void =>
    teller.close(step, {
      key: span.spanId,
      atMs: endOf(span),
      payload: {
        status: error === undefined ? "success" : "error",
        latency_ms: latencyOf(span),
        ...(error === undefined ? {} : { error_class: error.errorClass }),
      },
      bodies: [
        output === undefined ? undefined : textBody("body", output),
        error === undefined ? undefined : textBody("error", error.message),
      ],
      summaries: error === undefined ? {} : { error_summary: error.message },
    })
  return { step, end }
}
