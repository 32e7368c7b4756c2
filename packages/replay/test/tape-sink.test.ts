import { type EventRecord, MemorySink, type Run } from "@orangebox/recorder"
import { expect, test } from "vitest"
import { replayRecorder } from "../src/index.js"
import { recordRun } from "./recorded.js"

class RecordKeeper extends MemorySink {
  readonly records: EventRecord[] = []
  override emit(record: EventRecord): void {
    this.records.push(record)
    super.emit(record)
  }
}

const agent = (last: string) => async (run: Run) => {
  await run.step("work").tool({ name: "read", args: { path: "a.ts" } }, () => "text of a.ts")
  await run.tool({ name: "read", args: { path: last } }, () => "text of another")
}

test("[P-05] what a replay marks on an event is the same in the journal's line as in the value readers are given", async () => {
  const { tape } = await recordRun(agent("b.ts"))
  for (const last of ["b.ts", "never-asked.ts"]) {
    const sink = new RecordKeeper()
    const recorder = replayRecorder(tape, { app: "test", environment: "local", capture: "full", sink })
    await agent(last)(recorder.startRun({ entrypoint: "agent", input: "go" })).catch(() => undefined)
    recorder.close()
    const marked = sink.records.filter(({ event }) => event.replay !== undefined)
    expect(marked.length).toBeGreaterThan(4)
    for (const record of marked) expect(record.event).toEqual(JSON.parse(record.json))
  }
})
