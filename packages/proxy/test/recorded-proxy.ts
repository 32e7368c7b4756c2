import type { Event, EventType } from "@orangebox/contract"
import { MemorySink, Recorder, type Run } from "@orangebox/recorder"
import { onTestFinished } from "vitest"
import { lookAfterEachTest, willBeLookedAt } from "../../decisions/test/every-run.js"
import { type ProxyOptions, type RecordingProxy, startProxy } from "../src/index.js"

lookAfterEachTest()

/** A proxy in this process, recording into memory. */
export interface RecordedProxy extends RecordingProxy {
  readonly run: Run
  /** Events of one type, in order. */
  all<T extends EventType>(type: T): Event<T>[]
  events(): Event[]
  body(hash: string | null | undefined): Buffer | undefined
}

export async function recordedProxy(
  upstreams: Record<string, string>,
  options: Partial<ProxyOptions> & { standing?: boolean } = {},
): Promise<RecordedProxy> {
  const sink = willBeLookedAt(new MemorySink())
  const recorder = Recorder.open({ app: "test", sink, strict: true })
  const run = recorder.startRun({ entrypoint: "test", input: "a command" })
  const { standing, ...rest } = options
  const proxy = await startProxy({ recorder, upstreams, ...(standing ? {} : { run }), ...rest })
  onTestFinished(async () => {
    await proxy.close()
    recorder.close()
  })
  return {
    ...proxy,
    run,
    events: () => sink.events,
    all: <T extends EventType>(type: T) => sink.events.filter((event) => event.event_type === type) as Event<T>[],
    body(hash) {
      const bytes = hash ? sink.bodies.get(hash) : undefined
      return bytes && Buffer.from(bytes)
    },
  }
}

export async function eventually<T>(read: () => T | undefined | false | null, what: string): Promise<T> {
  for (let tries = 0; tries < 2000; tries++) {
    const value = read()
    if (value) return value
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error(`never came true: ${what}`)
}
