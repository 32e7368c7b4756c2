import { readFileSync } from "node:fs"
import {
  canonicalHash,
  EVENT_TYPES,
  type Event,
  isEventType,
  readEvent,
  repeatsCall,
  SCHEMA_VERSION,
  textHash,
  validate,
  validateRun,
} from "@orangebox/contract"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { eventSchema } from "../definitions/catalog.js"
import {
  type JsonSchema,
  publishedSchemas,
  recordVersion,
  type SchemaHistory,
  schemaDigest,
} from "../definitions/json-schemas.js"
import { byRun, eventOf, fixture, samples } from "./run-of.js"

const read = (version: "0" | "1.0" | "1.1" | "1.2"): Event[] =>
  fixture(version).map((raw) => {
    expect(validate(raw)).toEqual([])
    const { event, problems } = readEvent(raw)
    expect(problems).toEqual([])
    return event!
  })

describe("[C-04] recordings of every published version stay readable", () => {
  test.each(["0", "1.0", "1.1", "1.2"] as const)(
    "[C-04] the run of version %s is read without a problem, in order and whole",
    (version) => {
      const events = read(version)
      for (const run of byRun(events).values()) expect(validateRun(run)).toEqual([])
      for (const event of events) expect(validate(event)).toEqual([])
      expect(new Set(events.map((event) => event.schema_version))).toEqual(
        new Set([version === "1.2" ? SCHEMA_VERSION : "1.1.0"]),
      )
    },
  )

  test("[C-04] the fixture of 1.2 has every event type, the one of 1.0 the first thirteen", () => {
    const types = (version: "1.0" | "1.2"): string[] => [
      ...new Set(fixture(version).map((raw) => String(raw["event_type"]))),
    ]
    expect(types("1.2").toSorted()).toEqual(EVENT_TYPES.toSorted())
    expect(types("1.0").toSorted()).toEqual(EVENT_TYPES.slice(0, 13).toSorted())
  })

  test("[C-04] a 1.0 event is read with an id, a monotonic time and a source, always the same ones", () => {
    const [raw] = fixture("1.0")
    const { event } = readEvent(raw)
    expect(event).toEqual(readEvent(structuredClone(raw)).event)
    expect(event).toMatchObject({ ...raw, schema_version: "1.1.0", source: "sdk" })
    expect(event!.mono_us).toBe(Date.parse(event!.timestamp_utc) * 1000)
    expect(new Set(read("1.0").map(({ event_id }) => event_id)).size).toBe(fixture("1.0").length)
  })

  test("[C-04] a turn of major 0 is read as a run, its spans as steps, its inline text as refs that say why", () => {
    const [started, log, , long, , , failedStep] = read("0")
    expect(started).toMatchObject({
      event_type: "run_started",
      source: "billing",
      conversation_id: "conv-1",
      payload: { app_id: "billing", entrypoint_name: "turn", input_summary_ref: textHash("What do I owe?") },
      artifact_refs: [{ artifact_hash: textHash("What do I owe?"), byte_size: 14, absent: "not_kept" }],
    })
    expect(log).toMatchObject({ event_type: "log", attributes: { retries: 0, tier: "gold", vip: true, region: null } })
    expect(long!.payload).toMatchObject({
      message: "x".repeat(8192),
      message_ref: textHash("x".repeat(9000)),
      body_ref: textHash("the prompt before any change"),
    })
    expect(failedStep).toMatchObject({
      event_type: "step_ended",
      payload: { status: "error", error_summary: "no such invoice", error_ref: textHash("no such invoice") },
    })
    const ends = read("0").filter(({ event_type }) => event_type === "run_completed" || event_type === "run_failed")
    expect(ends.map((event) => event.payload)).toMatchObject([
      { status: "success", total_steps: null, total_latency_ms: 87.5 },
      { status: "failed", error_summary: "model refused" },
    ])
  })

  test("[C-04] what major 0 cannot mean is a problem that names the field", () => {
    const [raw] = fixture("0")
    for (const [field, value] of [
      ["timestamp", 1e20],
      ["timestamp", "now"],
      ["turnId", undefined],
      ["seq", -1],
    ] as const) {
      const { event, problems } = readEvent({ ...raw, [field]: value })
      expect(event).toBeUndefined()
      expect(problems).toMatchObject([{ code: "invalid_v0", field }])
    }
  })
})

describe("[C-04] unknown fields", () => {
  /** The event with an unknown field at every place that has fields. */
  const extended = (schema_version: string): Record<string, unknown> => {
    const { payload, ...event } = structuredClone(samples.get("model_result")!) as Event<"model_result">
    return {
      ...event,
      schema_version,
      mood: "fine",
      artifact_refs: event.artifact_refs.map((ref) => ({ ...ref, colour: "orange" })),
      payload: { ...payload, watts: 3, token_usage: { ...payload.token_usage, audio: 1 } },
    }
  }

  test("[C-04] are accepted at every depth on a newer minor version", () => {
    expect(validate(extended("1.3.0"))).toEqual([])
    expect(readEvent(extended("1.3.0")).event).toEqual(extended("1.3.0"))
  })

  test("[C-04] are refused, each by its name, on a version this build knows", () => {
    const refused = (version: string): string[] =>
      validate(extended(version))
        .filter(({ code }) => code === "unknown_field")
        .map(({ field }) => field)
    const unknown = ["artifact_refs.0.colour", "mood", "payload.token_usage.audio", "payload.watts"]
    expect(refused(SCHEMA_VERSION).toSorted()).toEqual(unknown)
    expect(refused("1.0.0")).toEqual(
      expect.arrayContaining([...unknown, "event_id", "payload.status", "payload.token_usage.cache_read"]),
    )
  })

  test("[C-04] an event type of a newer minor is accepted, and reading it says it is not understood", () => {
    const event = { ...eventOf("log", {}), schema_version: "1.3.0", event_type: "telepathy" }
    expect(validate(event)).toEqual([])
    expect(readEvent(event)).toMatchObject({ event: undefined, problems: [{ code: "event_type", severity: "gap" }] })
    expect(validate({ ...event, schema_version: SCHEMA_VERSION })).toMatchObject([
      { field: "event_type", severity: "error" },
    ])
  })

  test("[C-04] what is wrong stays wrong on a newer minor", () => {
    const event = { ...eventOf("log", { level: "loud", message: "x" }), schema_version: "1.9.0" }
    expect(validate(event)).toMatchObject([{ field: "payload.level" }])
  })

  test("[C-04] an additive event type or field does not exist in 1.0", () => {
    const { event_id: _, mono_us: _m, source: _s, ...log } = eventOf("log", { level: "info", message: "x" })
    expect(validate({ ...log, schema_version: "1.0.0" })).toMatchObject([{ field: "event_type" }])
  })

  test.each([
    ["2.0.0", "major version 2 cannot be read by this build"],
    ["1.1", "is missing or not a version such as 1.1.0"],
    [undefined, "is missing or not a version such as 1.1.0"],
  ])("[C-04] version %s is refused with a clear problem", (schema_version, reason) => {
    const { event, problems } = readEvent({ ...eventOf("log", { level: "info", message: "x" }), schema_version })
    expect(event).toBeUndefined()
    expect(problems).toMatchObject([{ field: "schema_version", reason }])
  })
})

describe("published JSON Schemas", () => {
  const folder = new URL("../schemas/", import.meta.url)
  const committed = (name: string): string => readFileSync(new URL(name, folder), "utf8")
  const history = JSON.parse(committed("history.json")) as SchemaHistory

  test("[C-04] a changed event schema needs a new SCHEMA_VERSION", () => {
    expect(history[SCHEMA_VERSION], "the event schemas changed: raise SCHEMA_VERSION").toBe(schemaDigest("current"))
    expect(history["1.0.0"], "what schema 1.0 means has changed").toBe(schemaDigest("first"))
  })

  test("[C-04] the generator refuses to change a published version, unless told that nobody has it", () => {
    const changed = canonicalHash("another schema")
    expect(() => recordVersion(history, SCHEMA_VERSION, changed, false)).toThrow(/already published/)
    expect(recordVersion(history, SCHEMA_VERSION, changed, true)).toEqual({ ...history, [SCHEMA_VERSION]: changed })
    expect(recordVersion(history, "1.3.0", changed, false)).toEqual({ ...history, "1.3.0": changed })
  })

  test("[C-04] the digest notices a changed field in any event type", () => {
    const files = [...publishedSchemas()].filter(([name]) => isEventType(name.replace(".schema.json", "")))
    expect(files).toHaveLength(EVENT_TYPES.length)
    const without = (schema: JsonSchema): JsonSchema => ({ ...schema, required: [] })
    const digests = files.map(([name, schema]) =>
      canonicalHash(Object.fromEntries([...files, [name, without(schema)]])),
    )
    expect(new Set(digests).size).toBe(files.length)
  })

  test.each([...samples])("[C-01] the schema of %s accepts its fixture and refuses an unknown field", (type, event) => {
    const schema = z.fromJSONSchema(JSON.parse(committed(`${type}.schema.json`)))
    expect(schema.safeParse(event).success).toBe(true)
    expect(schema.safeParse({ ...event, mood: "fine" }).success).toBe(false)
    expect(eventSchema(type).safeParse(event).success).toBe(true)
  })

  test("[C-01] the union names every event type's file", () => {
    const { oneOf } = JSON.parse(committed("event.schema.json")) as { oneOf: { $ref: string }[] }
    expect(oneOf.map(({ $ref }) => $ref)).toEqual(EVENT_TYPES.map((type) => `${type}.schema.json`))
  })
})

test("a first attempt recorded once more is known by the name of today and by the one of before", () => {
  expect(repeatsCall({ attributes: { repeats_call: true } })).toBe(true)
  expect(repeatsCall({ attributes: { told_again: true } })).toBe(true)
  expect(repeatsCall({ attributes: { repeats_call: false } })).toBe(false)
  expect(repeatsCall({})).toBe(false)
})
