import { expect, test } from "vitest"
import { DecisionEvent, decisionLogRecords, decisionsOf } from "../src/index.js"
import { fixerRun } from "./agent-runs.js"

test("[D-06] one DecisionEvent a line: every line reads back as what it was", async () => {
  const decisions = decisionsOf(await fixerRun())
  const lines = decisions.map((decision) => JSON.stringify(decision))
  expect(lines.join("").includes("\n")).toBe(false)
  expect(lines.map((line) => DecisionEvent.parse(JSON.parse(line)))).toEqual(decisions)
})

test("[D-06] decisions as OTLP log records carry the trace and span of their action", async () => {
  const decisions = decisionsOf(await fixerRun())
  const logs = decisionLogRecords(decisions)
  expect(logs.resourceLogs).toHaveLength(1)
  const [{ resource, scopeLogs }] = logs.resourceLogs as [(typeof logs.resourceLogs)[0]]
  expect(resource.attributes).toContainEqual({ key: "service.name", value: { stringValue: "fixer" } })
  const records = scopeLogs[0]!.logRecords
  expect(records.map(({ traceId, spanId }) => [traceId, spanId])).toEqual(
    decisions.map(({ trace_id, span_id }) => [trace_id, span_id]),
  )
  const [first] = records
  expect(first).toMatchObject({
    timeUnixNano: `${BigInt(Date.parse(decisions[0]!.timestamp)) * 1_000_000n}`,
    severityText: "INFO",
    eventName: "orangebox.decision",
  })
  expect(first!.attributes).toContainEqual({ key: "orangebox.action.type", value: { stringValue: "plan" } })
  expect(JSON.parse((first!.body as { stringValue: string }).stringValue)).toEqual(decisions[0])
})

test("[D-06] a violation raises the severity of its record", async () => {
  const [decision] = decisionsOf(await fixerRun())
  const failed = {
    ...decision!,
    evaluation: { ...decision!.evaluation, policy: { status: "fail" as const, checks: [] } },
  }
  expect(decisionLogRecords([failed]).resourceLogs[0]!.scopeLogs[0]!.logRecords[0]).toMatchObject({
    severityNumber: 17,
    severityText: "ERROR",
  })
})
