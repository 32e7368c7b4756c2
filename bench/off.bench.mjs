// What instrumented code costs when recording is off.
import { Recorder } from "@orangebox/recorder"
import { compare, row } from "./measure.mjs"

export const title = "Recording off"

export async function run() {
  const run = Recorder.off().startRun({ entrypoint: "bench" })
  const found = await compare(
    {
      log: (i) => run.log.info("file read", { bytes: i }),
      step: () => run.step("work").end(),
      model: () => run.startModel({ provider: "p", model: "m", request: null }).endModel({}),
    },
    { iterations: 200_000 },
  )
  const line = (what, nanos) => row(what, `${nanos.toFixed(1)} ns`, "< 100 ns", nanos < 100)
  return [line("log.info", found.log), line("step and end", found.step), line("startModel and endModel", found.model)]
}
