import { describe, expect, test } from "vitest"
import { FAKES } from "../../../redaction/test/fake-secrets.js"
import { contractProblems, recordInMemory } from "../recording.js"

const key = FAKES["github-token"]!
const middle = key.slice(8, 30)

const stored = ({ events, bodies }: { events: readonly unknown[]; bodies: ReadonlyMap<string, Uint8Array> }): string =>
  [...events.map((event) => JSON.stringify(event)), ...[...bodies.values()].map((body) => Buffer.from(body))].join("\n")

describe("[X-04] [X-01] ids that a developer chose", () => {
  test("scope names, names of attributes and conversation ids are searched like any text", () => {
    const { recorder, sink, only } = recordInMemory()
    const scope = recorder.scope(`plugin ${key}`)
    scope.log.info("x", { [`a ${key}`]: 1, [`b ${key}`]: 2, "password=wh1teDuke77": true })
    scope.startRun({ entrypoint: "e", conversationId: `c ${key}` }).complete({})
    expect(stored(sink)).not.toContain(middle)
    expect(stored(sink)).not.toContain("wh1teDuke77")
    const { attributes, source } = only("log")
    expect(source).toMatch(/^plugin ghp…redacted…/)
    expect(Object.values(attributes!)).toEqual([1, 2, true])
    expect(contractProblems(sink)).toEqual([])
  })

  test("names of runs, steps and tools that read like a text are searched like one", () => {
    const { recorder, sink } = recordInMemory()
    const run = recorder.startRun({
      entrypoint: "call A temporary password is generated for root: d44TSe9zQ7kP1xW9vR46",
    })
    const step = run.step("GET /?reset_token=gpKtJa9zQ7kP1xW9vwYswpY8g")
    step.startTool({ name: "sh PGPASSWORD=wh1teDuke77 psql", args: {} }).endTool({})
    step.end()
    run.complete({})
    expect(stored(sink)).not.toMatch(/9zQ7kP1xW9v|wh1teDuke77/)
    expect(contractProblems(sink)).toEqual([])
  })

  test("two names that mask alike stay two", () => {
    const { recorder, only } = recordInMemory()
    const other = `${key.slice(0, 20)}zz${key.slice(22)}`
    recorder.log.info("x", { [key]: 1, [other]: 2 })
    expect(Object.values(only("log").attributes!)).toEqual([1, 2])
  })

  test("under hashed they are keyed, the same name to the same digest, and what our own code sets stays readable", () => {
    const { recorder, sink, eventsOf } = recordInMemory({ capture: "hashed" })
    const scope = recorder.scope("tenant Miller")
    const run = scope.startRun({ entrypoint: "e", conversationId: "with Miller" })
    run.log.info("x", { "calls of Miller": 3 })
    run.log.info("y", { "calls of Miller": 4 })
    const step = run.step("s")
    step.queue.enqueue({ messageId: "m Miller", body: "x" })
    step.end()
    run.complete({})
    expect(stored(sink)).not.toContain("Miller")
    const names = eventsOf("log").map(({ attributes }) => Object.keys(attributes!))
    expect(names[0]).toEqual(names[1])
    expect(names[0]![0]).toMatch(/^hmac:/)
    expect(eventsOf("log")[0]!.source).toMatch(/^hmac:/)
    const queued = eventsOf("step_started").find(({ payload }) => payload.kind === "queue.enqueue")!
    expect(Object.keys(queued.attributes!)).toContain("message_id")
    expect(eventsOf("process_started")[0]!.source).toBe("test-app")
    expect(contractProblems(sink)).toEqual([])
  })

  test("under hashed those that the configuration calls safe stay readable", () => {
    const { recorder, eventsOf } = recordInMemory({
      capture: "hashed",
      redaction: { safeIds: ["billing", "ticket-*", "retries"] },
    })
    const run = recorder.scope("billing").startRun({ entrypoint: "e", conversationId: "ticket-41" })
    run.log.info("x", { retries: 3, other: 1 })
    run.complete({})
    const [log] = eventsOf("log")
    expect(log!.source).toBe("billing")
    expect(log!.conversation_id).toBe("ticket-41")
    expect(log!.attributes!["retries"]).toBe(3)
    expect(log!.attributes!["other"]).toBeUndefined()
  })
})

describe("[X-04] mask, then cut", () => {
  test.each(Array.from({ length: 8 }, (_, i) => i * 6))(
    "a secret that stands across the place where a text is cut leaves no half behind (%s characters before it)",
    (before) => {
      const { recorder, sink } = recordInMemory()
      const across = (limit: number): string => `${"w ".repeat(limit).slice(0, limit - before - 1)} ${key} and more`
      const run = recorder.startRun({ entrypoint: "e", conversationId: across(512) })
      run.repair({ kind: "schema", before: 1, after: 2, reason: across(240) })
      run.log.info("x", { [across(256)]: 1, long: across(4096) })
      run.log.info(across(8192))
      const error = new Error(across(64 * 1024))
      error.name = across(256)
      run.startTool({ name: "t", args: {} }).endTool({ err: error })
      run.fail(error)
      const text = stored(sink)
      for (let at = 4; at + 9 < key.length - 3; at++) expect(text).not.toContain(key.slice(at, at + 9))
      expect(contractProblems(sink).filter((problem) => !problem.includes("conversation_id"))).toEqual([])
    },
  )
})
