import { MemorySink, Recorder } from "@orangebox/recorder"
import fc from "fast-check"
import { expect, test } from "vitest"
import {
  type Certification,
  diffRuns,
  exitCodeOf,
  type Recording,
  recheckCertificate,
  replayByEngine,
  replayRecorder,
} from "../src/index.js"
import { act, type Driver, PLAN_MUTATIONS, type Plan, plan, RECORDING_MUTATIONS } from "./mutations.js"
import { recordingOf, tapeFrom } from "./recorded.js"

/** `npm run torture` asks for more. */
const CASES = Number(process.env["ORANGEBOX_MUTATIONS"] ?? 300)
const OPTIONS = { app: "test", capture: "redacted", key: new Uint8Array(32).fill(5) } as const

async function record(planned: Plan) {
  const sink = new MemorySink()
  const recorder = Recorder.open({ ...OPTIONS, sink })
  await act(recorder.startRun({ entrypoint: "agent", input: planned.input }), planned)
  recorder.close()
  return recordingOf(sink)
}

async function replayOf(source: Recording, driver: Driver, planned: Plan) {
  const sink = new MemorySink()
  const covers = driver === "sdk" ? {} : { covers: ["model", "http"] as const }
  const replay = replayRecorder(tapeFrom(source), { ...OPTIONS, ...covers, sink })
  const start = { entrypoint: "agent", input: planned.input }
  const run = driver === "sdk" ? replay.startRun(start) : replay.recorder.startRun(start)
  await act(run, planned, (stepId) => {
    const outcome = replay.outcomeOf(stepId)
    return outcome?.outcome === "served" ? Buffer.from(outcome.bytes ?? []) : undefined
  }).catch((error: unknown) => run.fail(error))
  replay.close()
  return { certification: replay.certify(source), recording: recordingOf(sink) }
}

function isDifferent(a: Recording, b: Recording): boolean {
  const toDiff = ({ events, bodies }: Recording) => ({
    events: events.filter(({ run_id }) => run_id !== null),
    body: (hash: string) => bodies.get(hash) ?? ({ absent: "unknown" } as const),
  })
  return exitCodeOf(diffRuns(toDiff(a), toDiff(b))) === 1
}

const why = (found: Certification): string => JSON.stringify(found.issued ? found.certificate : found.blocking, null, 1)

const aCase = fc.constantFrom<Driver>("sdk", "wire").chain((driver) =>
  fc.record({
    driver: fc.constant(driver),
    planned: plan(driver),
    mutation: fc.nat(PLAN_MUTATIONS.length + RECORDING_MUTATIONS.length - 1),
    at: fc.nat(99),
  }),
)

test(
  "[P-10] any recorded run replays to a certificate that holds; with any one thing changed there is none",
  async () => {
    const tried = new Map<string, number>()
    const checkPlan = async (source: Recording, driver: Driver, changed: Plan, name: string) => {
      const { certification, recording } = await replayOf(source, driver, changed)
      expect(certification.issued, `${name}: ${why(certification)}`).toBe(false)
      return recording
    }
    await fc.assert(
      fc.asyncProperty(aCase, async ({ driver, planned, mutation, at }) => {
        const source = await record(planned)
        const honest = await replayOf(source, driver, planned)
        if (!honest.certification.issued) throw new Error(why(honest.certification))
        expect(isDifferent(source, honest.recording)).toBe(false)
        expect(recheckCertificate(honest.certification.certificate, source, honest.recording)).toMatchObject({
          holds: true,
        })

        const ofPlan = PLAN_MUTATIONS[mutation]
        if (ofPlan) {
          const changed = ofPlan.change(planned, at)
          if (changed === undefined || JSON.stringify(changed) === JSON.stringify(planned)) return
          tried.set(ofPlan.name, (tried.get(ofPlan.name) ?? 0) + 1)
          await checkPlan(source, driver, changed, ofPlan.name)
          return
        }
        const ofRecording = RECORDING_MUTATIONS[mutation - PLAN_MUTATIONS.length]!
        const damaged = ofRecording.change(source, at)
        if (damaged === undefined) return
        tried.set(ofRecording.name, (tried.get(ofRecording.name) ?? 0) + 1)
        const engine = replayByEngine(tapeFrom(damaged), damaged).certification
        expect(engine.issued, `${ofRecording.name}: ${why(engine)}`).toBe(false)
        await checkPlan(damaged, driver, planned, ofRecording.name)
        expect(recheckCertificate(honest.certification.certificate, damaged, honest.recording)).toMatchObject({
          holds: false,
        })
      }),
      { numRuns: CASES },
    )
    expect(PLAN_MUTATIONS.length + RECORDING_MUTATIONS.length).toBeGreaterThanOrEqual(30)
    if (CASES >= 300) expect(tried.size).toBeGreaterThan(25)
  },
  60_000 + CASES * 1_000,
)
