import type { Event } from "@orangebox/contract"
import { MemorySink, Recorder, type RecorderOptions } from "@orangebox/recorder"
import type { RecordedRun } from "../src/index.js"
import { lookAfterEachTest, willBeLookedAt } from "./every-run.js"

lookAfterEachTest()

/** A recorder over memory with a clock that ticks a millisecond per look, and what it recorded as a run to read. */
export function recordInMemory(options: Partial<RecorderOptions> = {}) {
  const sink = willBeLookedAt(new MemorySink())
  let ticks = 0
  const recorder = Recorder.open({
    app: "fixer",
    cwd: "/",
    sink,
    environment: "local",
    now: () => {
      ticks++
      return { wallMs: Date.UTC(2026, 0, 1) + ticks, monoUs: ticks * 1000 }
    },
    ...options,
  })
  const recorded = (more: readonly Event[] = []): RecordedRun => ({
    events: [...sink.events.filter((event) => event.run_id !== null), ...more],
    bodies: (ref) => sink.bodies.get(ref),
  })
  return { recorder, sink, recorded }
}

/** The same run as it would be without any text kept. */
export const withoutBodies = (run: RecordedRun): RecordedRun => ({ ...run, bodies: () => undefined })
