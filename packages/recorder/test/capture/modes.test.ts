import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { EVENT_TYPES, type Event, refFieldsOf } from "@orangebox/contract"
import { FIELD_POLICIES } from "@orangebox/redaction"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { FAKES, KEY } from "../../../redaction/test/fake-secrets.js"
import { contractProblems, recordInMemory } from "../recording.js"

const secret = FAKES["anthropic-key"]!
const local = { environment: "local", key: KEY } as const

let origin: string
const server = createServer((request, response) => {
  request.resume().on("end", () => {
    response.setHeader("content-type", "application/json")
    response.end(
      JSON.stringify({ id: "msg_1", usage: { input_tokens: 1 }, user: { ssn: "123-45-6789" }, text: secret }),
    )
  })
})
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())

describe("[X-01] what each mode keeps", () => {
  test("redacted is the default; the mode stands on the run and on every model call", async () => {
    for (const capture of ["full", "redacted", "hashed", undefined] as const) {
      const { recorder, only } = recordInMemory({ ...local, ...(capture === undefined ? {} : { capture }) })
      const run = recorder.startRun({ entrypoint: "x" })
      await run.model({ provider: "p", model: "m", request: "q" }, () => "a")
      expect(only("run_started").payload.capture_mode).toBe(capture ?? "redacted")
      expect(only("model_called").payload.capture_mode).toBe(capture ?? "redacted")
    }
  })

  test("full keeps every byte, redacted every byte but the secret's, hashed none; all say so truthfully [X-07]", async () => {
    const seen = await Promise.all(
      (["full", "redacted", "hashed"] as const).map(async (capture) => {
        const { recorder, sink, only } = recordInMemory({ ...local, capture })
        const run = recorder.startRun({ entrypoint: "x" })
        await run.tool({ name: "t", args: { key: secret, path: "a.ts" } }, () => "plain")
        const called = only("tool_called")
        run.complete()
        expect(contractProblems(sink)).toEqual([])
        const [ref] = called.artifact_refs
        return {
          text: sink.textOf(called.payload.args_ref),
          status: [called.redaction_status, only("tool_result").redaction_status],
          profile: ref!.redaction_profile,
          masks: ref!.masks?.length,
          absent: ref!.absent,
          summary: called.payload.args_summary,
        }
      }),
    )
    expect(seen[0]).toMatchObject({ status: ["not_required", "not_required"], profile: "none", masks: undefined })
    expect(seen[0]!.text).toContain(secret)
    expect(seen[1]).toMatchObject({ status: ["redacted", "not_required"], masks: 1, absent: undefined })
    expect(seen[1]!.text).toBe(
      JSON.stringify({ key: "sk-…redacted…GAA", path: "a.ts" }).replace("GAA", secret.slice(-3)),
    )
    expect(seen[1]!.profile).toMatch(/^secrets-\d/)
    expect(seen[2]).toMatchObject({ text: undefined, absent: "hashed", profile: "hashed", summary: undefined })
  })

  test("[X-04] under hashed the name of an error stays where it is one, and leaves a digest where it is a sentence", () => {
    const { recorder, sink, eventsOf } = recordInMemory({ ...local, capture: "hashed" })
    const named = (name: string) => Object.assign(new Error("x"), { name })
    recorder.log.error("one", { err: named("order of SOMEBODY 4711") })
    recorder.log.error("two", { err: named("RateLimitError") })
    const run = recorder.startRun({ entrypoint: "e" })
    run.fail(named("SOMEBODY4711"))
    expect(JSON.stringify(sink.events)).not.toContain("SOMEBODY")
    const [first, second] = eventsOf("log").map(({ payload }) => payload.error_class)
    expect(first).toMatch(/^hmac:/)
    expect(second).toBe("RateLimitError")
    expect(contractProblems(sink)).toEqual([])
  })

  test("under hashed everything that is still readable is on the list of what remains", async () => {
    const { recorder, sink } = recordInMemory({ ...local, capture: "hashed" })
    const run = recorder.startRun({
      entrypoint: "named",
      input: "SOMEBODYS words",
      constraints: [{ id: "c", type: "scope", rule: "SOMEBODYS rule" }],
    })
    const step = run.step("plan", { note: "SOMEBODYS note", count: 3, fine: true })
    step.log.info("SOMEBODYS message", { err: new Error("SOMEBODYS error") })
    await step.tool({ name: "read", args: "SOMEBODYS args" }, () => "SOMEBODYS result")
    await step.model({ provider: "p", model: "m", request: "SOMEBODYS request" }, () => "SOMEBODYS answer")
    step.end()
    run.fail(new Error("SOMEBODYS failure"))
    expect(contractProblems(sink)).toEqual([])
    expect(JSON.stringify(sink.events)).not.toContain("SOMEBODYS")
    for (const event of sink.events as Event[]) {
      for (const [field, value] of Object.entries(event.payload)) {
        const policy = (FIELD_POLICIES[event.event_type] as Record<string, string>)[field]
        const isRef = refFieldsOf(event.event_type).includes(field)
        const isShape = field === "segments" || field === "constraints"
        const isDigest = typeof value === "string" && value.startsWith("hmac:")
        const isEmpty = value === null || (Array.isArray(value) && value.length === 0)
        expect({
          field: `${event.event_type}.${field}`,
          kept: policy === "raw_allowed" || isRef || isShape || isDigest || isEmpty,
        }).toEqual({
          field: `${event.event_type}.${field}`,
          kept: true,
        })
      }
      for (const value of Object.values(event.attributes ?? {})) {
        expect(typeof value !== "string" || value.startsWith("hmac:")).toBe(true)
      }
    }
    expect(EVENT_TYPES.length).toBeGreaterThan(20)
  })

  test("[H-04] hashed still tells equal from different: signatures, segments, bodies and prefixes, and nobody without the key can check a guess", async () => {
    const request = (text: string) => ({
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model: "claude-x",
        max_tokens: 5,
        system: [{ type: "text", text: "You help.", cache_control: { type: "ephemeral" } }],
        messages: [{ role: "user", content: text }],
      }),
    })
    const record = async (key: Uint8Array, ...texts: string[]) => {
      const { recorder, eventsOf } = recordInMemory({ ...local, key, capture: "hashed" })
      const run = recorder.startRun({ entrypoint: "x" })
      for (const text of texts) await (await run.fetch(`${origin}/v1/messages`, request(text))).text()
      return {
        called: eventsOf("model_called").map(({ payload }) => payload),
        prompts: eventsOf("prompt_assembled").map(({ payload }) => payload),
      }
    }
    const { called, prompts } = await record(KEY, "yes", "yes", "no")
    expect(called[0]!.call_signature_hash).toBe(called[1]!.call_signature_hash)
    expect(called[0]!.call_signature_hash).not.toBe(called[2]!.call_signature_hash)
    expect(called[0]!.request_ref).toBe(called[1]!.request_ref)
    expect(called[0]!.prefix_fingerprint).toBe(called[2]!.prefix_fingerprint)
    const hashes = prompts.map(({ segments }) => segments.map(({ segment_hash }) => segment_hash))
    expect(hashes[0]![0]).toBe(hashes[2]![0])
    expect(hashes[0]!.at(-1)).not.toBe(hashes[2]!.at(-1))
    const elsewhere = await record(new Uint8Array(32).fill(9), "yes")
    expect(elsewhere.called[0]!.call_signature_hash).not.toBe(called[0]!.call_signature_hash)
    expect(elsewhere.called[0]!.request_ref).not.toBe(called[0]!.request_ref)
  })

  test("[X-03] two calls that differ in a secret only have different signatures, and equal ones the same, although their stored bytes are alike", async () => {
    const other = `${secret.slice(0, 30)}${secret[30] === "x" ? "y" : "x"}${secret.slice(31)}`
    const { recorder, eventsOf } = recordInMemory(local)
    const run = recorder.startRun({ entrypoint: "x" })
    for (const key of [secret, other, secret]) await run.tool({ name: "call", args: { key } }, () => 1)
    const [one, two, three] = eventsOf("tool_called").map(({ payload }) => payload)
    expect(one!.args_ref).toBe(two!.args_ref)
    expect(one!.call_signature_hash).not.toBe(two!.call_signature_hash)
    expect(one!.call_signature_hash).toBe(three!.call_signature_hash)
  })
})

describe("[X-02] [X-06] the user's rules", () => {
  test("deny drops, hashes or redacts a field; allow lifts guessing, never a known shape", async () => {
    const { recorder, sink, only, eventsOf } = recordInMemory({
      ...local,
      redaction: {
        deny: [
          { path: "tool_result.result_ref", policy: "drop" },
          { path: "*.attributes.user", policy: "hash_only" },
        ],
        allow: [{ path: "log.message" }],
      },
    })
    const run = recorder.startRun({ entrypoint: "x" })
    run.setAttributes({ user: "bob@example.com", other: "kept" })
    run.log.info(`password = "hunter2hunter2" and ${secret}`)
    await run.tool({ name: "t", args: {} }, () => "nobody keeps this")
    run.complete()
    expect(only("attributes_set").attributes).toEqual({ user: expect.stringMatching(/^hmac:/), other: "kept" })
    expect(only("log").payload.message).toBe(
      `password = "hunter2hunter2" and ${secret.slice(0, 3)}…redacted…${secret.slice(-3)}`,
    )
    expect(eventsOf("tool_result")[0]!.artifact_refs[0]).toMatchObject({ absent: "not_kept" })
    expect([...sink.bodies.values()].map((bytes) => Buffer.from(bytes).toString())).not.toContain("nobody keeps this")
    expect(contractProblems(sink)).toEqual([])
  })

  test("rules about keys hold in nested JSON of any body, the bytes around untouched; patterns in any text", async () => {
    const { recorder, sink, only } = recordInMemory({
      ...local,
      redaction: {
        keys: [
          { pattern: "ssn", action: "hash" },
          { pattern: "card", action: "mask" },
          { pattern: "notes", action: "drop" },
        ],
        values: [{ id: "ticket", pattern: "TCK-[0-9]{6}" }],
      },
    })
    const run = recorder.startRun({ entrypoint: "x" })
    await run.tool(
      {
        name: "t",
        args: `{"a": 1.50, "ssn":"123-45-6789", "b":[{"card": 4111}], "notes":{"x":1}, "c":"see TCK-123456"}`,
      },
      () => 1,
    )
    const text = sink.textOf(only("tool_called").payload.args_ref)!
    expect(text).toMatch(
      /^\{"a": 1\.50, "ssn":"hmac:[0-9a-f]+", "b":\[\{"card": "…redacted…"\}\], "notes":null, "c":"see T…redacted…6"\}$/,
    )
    const answered = await run.fetch(`${origin}/v1/x`, { method: "POST", body: JSON.stringify({ model: "m" }) })
    expect(await answered.text()).toContain("123-45-6789")
    const stored = sink.textOf(only("model_result").payload.response_ref)!
    expect(stored).not.toContain("123-45-6789")
    expect(JSON.parse(stored)).toMatchObject({ id: "msg_1", user: { ssn: expect.stringMatching(/^hmac:/) } })
  })

  test("[X-08] personal data is masked where it is asked for, and under the audit profile", () => {
    const mail = "write to jane.doe@example.com"
    const messageWith = (options: object): string => {
      const { recorder, only } = recordInMemory({ ...local, ...options })
      recorder.startRun({ entrypoint: "x" }).log.info(mail)
      return only("log").payload.message
    }
    expect(messageWith({})).toBe(mail)
    expect(messageWith({ redaction: { pii: true } })).not.toContain("jane.doe")
    expect(messageWith({ profile: "audit" })).not.toContain("jane.doe")
    expect(messageWith({ profile: "audit", redaction: { pii: false } })).toBe(mail)
  })
})

test("[X-04] a body an application hands to an event itself has been looked at by nobody and is not written", () => {
  const { recorder, sink, only } = recordInMemory(local)
  const run = recorder.startRun({ entrypoint: "x" })
  const hash = `sha256:${"ab".repeat(32)}` as const
  run.emit(
    "final_output",
    { output_ref: hash, response_channel: null },
    {
      refs: [
        {
          artifact_hash: hash,
          artifact_type: "output",
          byte_size: 3,
          content_encoding: "identity",
          mime_type: "text/plain",
          redaction_profile: "none",
        },
      ],
      bodies: [{ hash, bytes: Buffer.from(secret) }],
    },
  )
  expect(only("final_output")).toMatchObject({ redaction_status: "blocked", artifact_refs: [{ absent: "not_kept" }] })
  expect(sink.bodies.has(hash)).toBe(false)
})
