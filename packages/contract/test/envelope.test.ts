import { CandidateList, type Event, readEvent, validate, validateRun } from "@orangebox/contract"
import { describe, expect, test } from "vitest"
import { deepFreeze, eventOf, HASH, RUN, runOf, samples, step, TRACE } from "./run-of.js"

const log = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
  ...eventOf("log", { level: "info", message: "hi" }),
  ...more,
})
const fieldsOf = (event: unknown): string[] => validate(event).map((problem) => problem.field)

describe("[C-01] the envelope", () => {
  const SPECIFIED = [
    "schema_version",
    "trace_id",
    "run_id",
    "step_id",
    "parent_step_id",
    "sequence_no",
    "event_type",
    "timestamp_utc",
    "actor_type",
    "determinism_mode",
    "artifact_refs",
    "redaction_status",
    "payload",
  ]
  test.each([...SPECIFIED, "event_id", "mono_us", "source"])("[C-01] an event without %s has a problem", (field) => {
    const event = log()
    delete event[field]
    expect(fieldsOf(event)).toContain(field)
  })

  test("[C-01] every additive field is accepted and checked", () => {
    const additive = {
      conversation_id: "conv",
      attributes: { a: "x", b: 1, c: true, d: null },
      attribute_marks: { a: "json" },
      attributes_dropped: 3,
      links: [{ kind: "follows", step_id: step(2) }],
      inferred_by: "wire",
      lane_id: "lane-1",
      attempt_no: 1,
      replay: {
        source_run_id: RUN,
        fork_step_id: null,
        override_profile_id: HASH,
        replay_reason_code: "what_if",
        source_step_id: step(3),
        match: { tier: "exact", occurrence: 0, canon_version: 1 },
        effect_class: "read",
        taint: ["cached"],
      },
      problems: [{ code: "invalid", field: "payload.x", reason: "odd" }],
    }
    expect(validate(log(additive))).toEqual([])
    for (const field of Object.keys(additive)) {
      expect(fieldsOf(log({ ...additive, [field]: Symbol("wrong") }))).toContain(field)
    }
  })

  test.each([
    ["actor_type", ["sdk", "backend", "replay_engine"]],
    ["determinism_mode", ["live", "exact", "cached", "simulated"]],
    ["redaction_status", ["not_required", "redacted", "blocked", "failed"]],
  ])("[C-01] %s takes the words of the specification and no other", (field, words) => {
    for (const word of words) expect(validate(log({ [field]: word }))).toEqual([])
    expect(fieldsOf(log({ [field]: "other" }))).toEqual([field])
  })

  test.each([
    ["2026-01-31T12:00:00.000Z", true],
    ["2026-01-31T12:00:00Z", true],
    ["2026-01-31T12:00:00.123456789Z", true],
    ["2026-01-31T12:00:00+01:00", false],
    ["2026-13-31T12:00:00Z", false],
    ["2026-01-31T24:00:00Z", false],
    ["yesterday", false],
  ])("[C-01] timestamp_utc %s is a UTC time: %s", (timestamp_utc, isFine) => {
    expect(fieldsOf(log({ timestamp_utc }))).toEqual(isFine ? [] : ["timestamp_utc"])
  })

  test("[C-09] a nested attribute on an event is refused", () => {
    expect(fieldsOf(log({ attributes: { a: { b: 1 } } }))).toEqual(["attributes.a"])
  })
})

describe("[C-01] events outside a run", () => {
  const outside = { run_id: null, trace_id: null, step_id: null, parent_step_id: null, sequence_no: null }

  test("[C-01] a process event and an early log line have no run", () => {
    expect(validate(samples.get("process_started"))).toEqual([])
    expect(validate(log(outside))).toEqual([])
    expect(fieldsOf({ ...samples.get("process_started"), run_id: RUN })).toContain("run_id")
    expect(fieldsOf({ ...eventOf("step_started", { name: "x" }), ...outside })).toEqual(["run_id"])
  })

  test.each(["trace_id", "step_id", "parent_step_id", "sequence_no"])(
    "[C-01] without a run there is no %s",
    (field) => {
      const value = { trace_id: TRACE, step_id: step(1), parent_step_id: step(1), sequence_no: 0 }[field]
      expect(fieldsOf(log({ ...outside, [field]: value }))).toEqual([field])
    },
  )

  test.each(["trace_id", "step_id"])("[C-01] inside a run %s must be set", (field) => {
    expect(fieldsOf(log({ [field]: null }))).toEqual([field])
  })

  test("[C-01] only what may be said about a run by others may stand outside its sequence", () => {
    expect(validate({ ...samples.get("override"), sequence_no: null })).toEqual([])
    expect(fieldsOf({ ...samples.get("tool_called"), sequence_no: null })).toEqual(["sequence_no"])
  })
})

describe("[C-05] bodies that are not there", () => {
  const output = (absent?: string): Event =>
    eventOf("final_output", { output_ref: HASH, response_channel: null }, {
      artifact_refs: [
        { ...eventOf("final_output", { output_ref: HASH }).artifact_refs[0]!, ...(absent ? { absent } : {}) },
      ],
    } as Partial<Event>)

  test.each(["hashed", "not_kept", "pruned", "redacted_later"])("[C-05] a required ref may say %s", (reason) => {
    expect(validate(output(reason))).toEqual([])
  })

  test("[C-05] a required ref whose body is lost makes the event invalid", () => {
    expect(validate(output("lost"))).toMatchObject([
      { code: "body_lost", severity: "error", field: "payload.output_ref" },
    ])
  })

  test("[C-05] an optional ref whose body is lost is a gap, and the event stays valid", () => {
    const event = eventOf("log", { level: "info", message: "", body_ref: HASH })
    const lost = { ...event, artifact_refs: [{ ...event.artifact_refs[0]!, absent: "lost" as const }] }
    expect(validate(lost)).toMatchObject([{ code: "body_lost", severity: "gap", field: "payload.body_ref" }])
  })

  test("[C-05] a reason nobody has heard of is refused", () => {
    expect(fieldsOf(output("eaten"))).toEqual(["artifact_refs.0.absent"])
  })

  test("[C-05] a stored run with a missing body is invalid unless the ref is optional or says why", () => {
    const run = runOf(
      [
        "run_started",
        1,
        null,
        { app_id: "a", environment: "ci", entrypoint_name: "e", user_session_ref: null, input_summary: null },
      ],
      ["log", 1, null, { level: "info", message: "", body_ref: HASH }],
      ["final_output", 1, null, { output_ref: HASH, response_channel: null }],
      ["run_completed", 1, null, { status: "success", total_steps: 1, total_latency_ms: 1 }],
    )
    const severities = (events: Event[], has: boolean): unknown[] =>
      validateRun(events, { hasBody: () => has }).map(({ severity, field }) => [severity, field])
    expect(severities(run, true)).toEqual([])
    expect(severities(run, false)).toEqual([
      ["gap", "payload.body_ref"],
      ["error", "payload.output_ref"],
    ])
    const explained = run.map((event) => ({
      ...event,
      artifact_refs: event.artifact_refs.map((ref) => ({ ...ref, absent: "pruned" as const })),
    }))
    expect(severities(explained as Event[], false)).toEqual([])
  })
})

describe("[C-06] artifact references", () => {
  const CONTRACT = ["artifact_hash", "artifact_type", "byte_size", "content_encoding", "mime_type", "redaction_profile"]

  test.each(CONTRACT)("[C-06] a reference without %s has a problem", (field) => {
    const event = eventOf("log", { level: "info", message: "", body_ref: HASH })
    const ref: Record<string, unknown> = { ...event.artifact_refs[0]! }
    delete ref[field]
    expect(fieldsOf({ ...event, artifact_refs: [ref] })).toContain(`artifact_refs.0.${field}`)
  })

  test("[C-06] each body the payload names must be listed, nested ones too", () => {
    const segment = { contributor: "core", kind: "persona", role: null, length: 3, content_ref: HASH }
    const event = eventOf("prompt_assembled", {
      segments: [{ ...segment, content_ref: undefined }, segment],
      total_length: 3,
    })
    expect(validate(event)).toEqual([])
    expect(validate({ ...event, artifact_refs: [] })).toMatchObject([
      { code: "ref_not_listed", severity: "error", field: "payload.segments.1.content_ref" },
    ])
  })

  test("[C-02] a candidate list has rank, chunk, document, score, source and content", () => {
    const candidate = { rank: 0, chunk_id: "c", document_id: "d", score: 0.5, source_uri: "u", content_ref: HASH }
    expect(CandidateList.safeParse([candidate]).success).toBe(true)
    for (const field of Object.keys(candidate)) {
      const without: Record<string, unknown> = { ...candidate }
      delete without[field]
      expect(CandidateList.safeParse([without]).success).toBe(false)
    }
  })
})

test("[C-10] reading and judging a deeply frozen event changes nothing in it", () => {
  const events = deepFreeze(structuredClone([...samples.values()]))
  const before = structuredClone(events)
  for (const event of events) {
    expect(validate(event)).toEqual([])
    expect(readEvent(event).event).toBe(event)
  }
  validateRun(events)
  expect(events).toEqual(before)
})
