import type { DecisionEvent } from "./generated.js"

/**
 * DecisionEvents as OpenTelemetry log records. Each carries the trace and span of its action, so that a backend shows it beside the spans;
 * the body is the whole DecisionEvent as JSON, the attributes are what one filters by. OTLP/JSON: `POST /v1/logs` takes it as it is.
 */
export function decisionLogRecords(decisions: readonly DecisionEvent[]) {
  const bySession = new Map<string, DecisionEvent[]>()
  for (const decision of decisions) {
    const key = JSON.stringify(decision.session)
    const group = bySession.get(key) ?? []
    group.push(decision)
    bySession.set(key, group)
  }
  return {
    resourceLogs: [...bySession.values()].map((group) => ({
      resource: { attributes: resourceOf(group[0]!) },
      scopeLogs: [
        { scope: { name: "orangebox.decisions", version: group[0]!.schema_version }, logRecords: group.map(recordOf) },
      ],
    })),
  }
}

function resourceOf({ session }: DecisionEvent) {
  return [
    text("service.name", session.agent_id),
    text("service.version", session.agent_version),
    text("deployment.environment.name", session.environment),
  ]
}

const SEVERITY = {
  pass: [9, "INFO"],
  unknown: [9, "INFO"],
  warn: [13, "WARN"],
  fail: [17, "ERROR"],
} as const

function recordOf(decision: DecisionEvent) {
  const { evaluation, agent_action: action, prompt_provenance: prompt, session } = decision
  const status = (["fail", "warn", "pass", "unknown"] as const).find((verdict) =>
    [evaluation.alignment, evaluation.quality, evaluation.policy].some((part) => part.status === verdict),
  )!
  const [severityNumber, severityText] = SEVERITY[status]
  const nanos = nanosOf(decision.timestamp)
  return {
    timeUnixNano: nanos,
    observedTimeUnixNano: nanos,
    severityNumber,
    severityText,
    eventName: "orangebox.decision",
    traceId: decision.trace_id,
    spanId: decision.span_id,
    body: { stringValue: JSON.stringify(decision) },
    attributes: [
      text("orangebox.decision.id", decision.event_id),
      text("orangebox.run.id", session.run_id),
      text("gen_ai.conversation.id", session.session_id),
      text("gen_ai.agent.id", session.agent_id),
      text("gen_ai.provider.name", prompt.provider_name ?? prompt.provider),
      text("gen_ai.request.model", prompt.model),
      text("orangebox.capture_mode", prompt.capture_mode),
      text("orangebox.action.type", action.action_type),
      text("orangebox.action.summary", action.action_summary),
      text("orangebox.evaluation.alignment", evaluation.alignment.status),
      text("orangebox.evaluation.quality", evaluation.quality.status),
      text("orangebox.evaluation.policy", evaluation.policy.status),
      { key: "orangebox.evaluation.violations", value: { intValue: String(evaluation.alignment.violations.length) } },
    ],
  }
}

const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })

/** Timestamps may carry up to nine digits after the second, more than a number of milliseconds holds. */
function nanosOf(timestamp: string): string {
  const ms = Date.parse(timestamp)
  if (!Number.isFinite(ms)) return "0"
  const fraction = (/\.(\d{1,9})/.exec(timestamp)?.[1] ?? "").padEnd(9, "0")
  return (BigInt(Math.floor(ms / 1000)) * 1_000_000_000n + BigInt(fraction)).toString()
}
