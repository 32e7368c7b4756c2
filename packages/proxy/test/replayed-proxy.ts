import type { Event } from "@orangebox/contract"
import { MemorySink, Recorder, type RecorderOptions } from "@orangebox/recorder"
import { type Certification, planFork, type ReplayPolicy, replayRecorder, type Tape, tapeOf } from "@orangebox/replay"
import { startProxy } from "../src/index.js"
import type { ProxyLimits } from "../src/limits.js"

/** What a client does, given the base URL of each upstream. */
export type Use = (urlFor: (upstream: string) => string) => Promise<unknown>

export interface Recorded {
  readonly events: readonly Event[]
  readonly tape: Tape
}

export interface Replayed {
  /** What the client gave back, or what it threw. */
  readonly said: unknown
  readonly certification: Certification
  readonly events: readonly Event[]
}

const KEY = new Uint8Array(32).fill(3)

export type Upstreams = Readonly<Record<string, string>>
type Capture = Pick<RecorderOptions, "capture" | "environment">

/** Records what a client does against upstreams, through a real proxy. */
export async function recordThroughProxy(
  upstreams: Upstreams,
  use: Use,
  capture: Capture = {},
  limits: Partial<ProxyLimits> = {},
): Promise<Recorded> {
  const sink = new MemorySink()
  const recorder = Recorder.open({ app: "test", sink, key: KEY, ...capture })
  const run = recorder.startRun({ entrypoint: "test" })
  const proxy = await startProxy({ recorder, upstreams, run, limits })
  await use((name) => proxy.urlFor(name))
  await proxy.close()
  run.complete()
  recorder.close()
  const events = sink.events.filter(({ run_id }) => run_id === run.runId)
  return { events, tape: tapeFrom(events, sink.bodies) }
}

export function tapeFrom(events: readonly Event[], bodies: ReadonlyMap<string, Uint8Array>): Tape {
  const reading = tapeOf(events, bodies)
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems))
  return reading.tape
}

/** The same through a proxy that answers from the tape. */
export async function replayThroughProxy(
  { events, tape }: Recorded,
  upstreams: Upstreams,
  use: Use,
  more: { policy?: Partial<ReplayPolicy>; fork?: Parameters<typeof planFork>[1]; capture?: Capture } = {},
): Promise<Replayed & { readonly recorded: Recorded }> {
  const sink = new MemorySink()
  const planned = more.fork && planFork(tape, more.fork)
  if (planned && !planned.ok) throw new Error(JSON.stringify(planned.problems))
  const replay = replayRecorder(tape, {
    app: "test",
    sink,
    key: KEY,
    covers: ["model", "http"],
    ...more.capture,
    ...(more.policy ? { policy: more.policy } : {}),
    ...(planned ? { fork: planned.fork } : {}),
  })
  const run = replay.recorder.startRun({ entrypoint: "test" })
  const proxy = await startProxy({ recorder: replay.recorder, upstreams, run, replay })
  const said = await use((name) => proxy.urlFor(name)).catch((error: unknown) => error)
  await proxy.close()
  run.complete()
  const certification = replay.certify({ events, bodies: tape.bodies })
  replay.close()
  const own = sink.events.filter(({ run_id }) => run_id === run.runId)
  return { said, certification, events: sink.events, recorded: { events: own, tape: tapeFrom(own, sink.bodies) } }
}
