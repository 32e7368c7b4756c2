import { type Event, type EventType, validate, validateRun } from "@orangebox/contract"
import { expect } from "vitest"
import { lookAfterEachTest, willBeLookedAt } from "../../decisions/test/every-run.js"
import { MemorySink, Recorder, type RecorderOptions } from "../src/index.js"

lookAfterEachTest()

/** A recorder over memory with a clock that ticks a millisecond per look. */
export function recordInMemory(options: Partial<RecorderOptions> = {}) {
  const sink = willBeLookedAt(new MemorySink())
  let ticks = 0
  const recorder = Recorder.open({
    app: "test-app",
    cwd: "/",
    // Not what the machine says, where the tests run: outside local work keeping everything has to be agreed to.
    environment: "local",
    sink,
    now: () => {
      ticks++
      return { wallMs: Date.UTC(2026, 0, 1) + ticks, monoUs: ticks * 1000 }
    },
    ...options,
  })
  const eventsOf = <T extends EventType>(type: T): Event<T>[] =>
    sink.events.filter((event) => event.event_type === type) as Event<T>[]
  return { recorder, sink, eventsOf, only: <T extends EventType>(type: T): Event<T> => onlyOne(eventsOf(type)) }
}

function onlyOne<T>(items: T[]): T {
  expect(items).toHaveLength(1)
  return items[0]!
}

/** Everything the contract has against what was recorded: nothing, in a well-behaved program. */
export function contractProblems(sink: MemorySink): string[] {
  const events = sink.events
  const runs = new Set(events.map((event) => event.run_id).filter((id) => id !== null))
  const each = events.flatMap((event) => validate(event))
  const whole = [...runs].flatMap((runId) =>
    validateRun(
      events.filter((event) => event.run_id === runId),
      { hasBody: (hash) => sink.bodies.has(hash) },
    ),
  )
  return [...each, ...whole].map((problem) => `${problem.code} ${problem.field} ${problem.reason}`)
}
