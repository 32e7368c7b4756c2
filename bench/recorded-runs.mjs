// Runs as the SDK records them, as values: what the ingest and growth benchmarks feed a store with.
import { MemorySink, Recorder } from "@orangebox/recorder"

/** Events of `runs` agent runs of about 34 events each, in the order they would be written. */
export function recordedRuns(runs, { startAtMs = Date.UTC(2026, 0, 1), seed = 0 } = {}) {
  const sink = new MemorySink()
  let clock = startAtMs
  let mono = 0
  const recorder = Recorder.open({
    app: "bench",
    cwd: "/",
    sink,
    now: () => {
      clock += 3
      mono += 2_700
      return { wallMs: clock, monoUs: mono }
    },
  })
  for (let n = 0; n < runs; n++) recordOne(recorder, seed + n)
  recorder.close()
  return sink
}

function recordOne(recorder, n) {
  const run = recorder.startRun({
    entrypoint: "fix-issue",
    input: `Fix issue ${n}`,
    conversationId: `conversation-${n % 50}`,
  })
  for (let turn = 0; turn < 3; turn++) {
    const step = run.step(`turn-${turn}`)
    const model = step.startModel({ provider: "anthropic", model: "claude-x", request: `request ${n}.${turn}` })
    model.endModel({
      finishReason: "tool_use",
      usage: { prompt: 4000 + n, completion: 200, cache_read: 3000 },
      requestedTools: ["read_file"],
    })
    const tool = step.startTool({ name: turn === 2 ? "run_tests" : "read_file", args: `src/file-${n % 97}.ts` })
    tool.log.info("reading", { bytes: n, path: `src/file-${n % 97}.ts` })
    tool.endTool(
      turn === 2 && n % 10 === 0 ? { err: new Error(`test ${n} failed`) } : { result: `result ${n}.${turn}` },
    )
    step.log.info("turn over", { turn })
    step.end()
  }
  run.complete({ output: `done ${n}` })
}
