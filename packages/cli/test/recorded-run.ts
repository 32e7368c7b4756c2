import { Recorder, type Run } from "@orangebox/recorder"

/** Records with the real recorder into a real data folder. The recorder is closed when the work is done. */
export async function record(
  folder: string,
  work: (recorder: Recorder) => Promise<void> | void,
  app = "test-app",
): Promise<void> {
  const recorder = Recorder.open({ app, folder })
  try {
    await work(recorder)
  } finally {
    recorder.close()
  }
}

/** A run with a model call, a tool that works, one that fails, a log line and an end. */
export async function recordOrdinaryRun(recorder: Recorder, input = "count the sheep"): Promise<Run> {
  const run = recorder.startRun({ entrypoint: "count", input, conversationId: "conv-sheep" })
  const step = run.step("plan")
  await step.model(
    {
      provider: "anthropic",
      model: "test-model",
      request: { model: "test-model", messages: [{ role: "user", content: input }] },
      describe: () => ({ finishReason: "end_turn", usage: { prompt: 12, completion: 3 }, outputText: "seven" }),
    },
    () => ({ role: "assistant", content: [{ type: "text", text: "seven" }] }),
  )
  step.end()
  await run.tool({ name: "read_file", args: { path: "sheep.txt" }, callId: "toolu_sheep" }, () => "one\ntwo\nthree\n")
  await run
    .tool({ name: "open_gate", args: { gate: "north" } }, () => {
      throw new Error("the gate is locked")
    })
    .catch(() => {})
  run.log.info("counted", { sheep: 7 })
  run.complete({ output: "7 sheep" })
  return run
}
