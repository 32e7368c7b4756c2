import { MemorySink, Recorder, type Run } from "@orangebox/recorder"
import { expect, test } from "vitest"
import { coverage, recheckCertificate, replayByEngine, replayRecorder } from "../src/index.js"
import { recordingOf, recordRun, tapeFrom } from "./recorded.js"

/** Delegates twice: beside its own work, and inside a tool, which is how most sub-agents are started. */
const agent = (world: () => unknown) => async (run: Run) => {
  const sub = run.startRun({ entrypoint: "researcher" })
  const found = await sub.tool({ name: "search", args: { for: "goats" } }, world)
  sub.complete({ output: found })
  const asked = await run.tool({ name: "delegate", args: {} }, async ({ step }) => {
    const inner = step.startRun({ entrypoint: "writer" })
    const text = await inner.tool({ name: "search", args: { for: "goats" } }, world)
    inner.complete({ output: text })
    return { text }
  })
  const said = [found, asked, await run.tool({ name: "search", args: { for: "goats" } }, world)]
  run.complete({ output: said })
  return said
}

const offline = (): never => {
  throw new Error("the world was asked")
}

test("[P-03] a run and the runs of its sub-agents replay as a whole, also those a tool started", async () => {
  let count = 0
  const source = await recordRun(agent(() => `found ${++count}`))
  const events = source.events.filter(({ run_id }) => run_id !== null)
  expect(new Set(events.map(({ run_id }) => run_id)).size).toBe(3)
  expect(replayByEngine(source.tape, source).certification).toMatchObject({ issued: true })
  const sink = new MemorySink()
  const replay = replayRecorder(source.tape, { app: "test", environment: "local", capture: "full", sink })
  expect(await agent(offline)(replay.startRun({ entrypoint: "agent", input: "go" }))).toEqual([
    "found 1",
    { text: "found 2" },
    "found 3",
  ])
  replay.close()
  const certification = replay.certify(source)
  if (!certification.issued) throw new Error(JSON.stringify(certification.blocking))
  const again = { ...recordingOf(sink), events: sink.events.filter(({ run_id }) => run_id !== null) }
  expect(recheckCertificate(certification.certificate, source, again)).toMatchObject({ holds: true })
})

test("[P-07] a run whose sub-agent's run is not there says so with its name, and is not certified", async () => {
  let count = 0
  const source = await recordRun(agent(() => ++count))
  const researcher = source.events.find(
    (event) => event.event_type === "run_started" && event.payload.entrypoint_name === "researcher",
  )!
  const events = source.events.filter(({ run_id }) => run_id !== null && run_id !== researcher.run_id)
  const tape = tapeFrom({ events, bodies: source.bodies })
  expect(tape.absentRuns.map(({ runId }) => runId)).toEqual([researcher.run_id])
  expect(coverage(tape)).toContainEqual(
    expect.objectContaining({ code: "COVERAGE_GAP", severity: "blocks", call: `run ${researcher.run_id}` }),
  )
  expect(replayByEngine(tape, { ...source, events }).certification).toMatchObject({
    issued: false,
    blocking: [{ condition: "consumption", reason: expect.stringContaining(researcher.run_id!) }],
  })
})

test("[P-03] a run that another process started counts as part of the tree, whatever its clock says", async () => {
  const sinks = [new MemorySink(), new MemorySink()] as const
  const open = (sink: MemorySink): Recorder =>
    Recorder.open({ app: "test", environment: "local", capture: "full", sink })
  const [parent, child] = sinks.map(open) as [Recorder, Recorder]
  const run = parent.startRun({ entrypoint: "agent" })
  const sub = child.startRun({ entrypoint: "worker", parent: run.handoff() })
  await sub.tool({ name: "look", args: {} }, () => "seen")
  sub.complete()
  await run.tool({ name: "wait", args: {} }, () => "done")
  run.complete()
  parent.close()
  child.close()
  const ofChild = sinks[1].events.map((event) => ({ ...event, timestamp_utc: "2001-01-01T00:00:00.000Z" }))
  const events = [...sinks[0].events, ...ofChild].filter(({ run_id }) => run_id !== null)
  const bodies = new Map([...sinks[0].bodies, ...sinks[1].bodies])
  const tape = tapeFrom({ events, bodies }, run.runId)
  expect({ run: tape.runId, lanes: tape.calls.map(({ lane }) => lane), absent: tape.absentRuns }).toEqual({
    run: run.runId,
    lanes: ["sub:worker", "main"],
    absent: [],
  })
  expect(replayByEngine(tape, { events, bodies }).certification).toMatchObject({ issued: true })
})
