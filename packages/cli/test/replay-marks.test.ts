import { readFileSync } from "node:fs"
import { join } from "node:path"
import { MemorySink, Recorder, type Run } from "@orangebox/recorder"
import { readPortable, replayRecorder, tapeOf } from "@orangebox/replay"
import { afterAll, beforeAll, expect, test } from "vitest"
import { orangeboxHere, type Scratch, scratchFolder } from "./command.js"

let scratch: Scratch
let source: string
let file: string

const OPTIONS = { app: "zoo", environment: "local", capture: "full" } as const

const agent = async (run: Run, question: string): Promise<void> => {
  const call = { provider: "anthropic", model: "m", request: { messages: [{ role: "user", content: question }] } }
  const content = [{ type: "text", text: "a unicorn" }]
  await run.model({ ...call, describe: () => ({ outputText: "a unicorn" }) }, () => ({ role: "assistant", content }))
  await run.tool({ name: "look", args: { at: question } }, () => "unicorn tracks")
  run.complete()
}

/** A run that was answered with made-up words where it left the recording. */
beforeAll(async () => {
  scratch = scratchFolder()
  const sink = new MemorySink()
  const recorder = Recorder.open({ ...OPTIONS, sink })
  await agent(recorder.startRun({ entrypoint: "guess", input: "what is it?" }), "what is it?")
  recorder.close()
  const reading = tapeOf(sink.events, sink.bodies)
  if (!reading.ok) throw new Error("no tape")
  source = reading.tape.runId
  const replay = replayRecorder(reading.tape, { ...OPTIONS, folder: scratch.path, policy: { onMiss: "nearest" } })
  await agent(replay.startRun({ entrypoint: "guess", input: "what is that?" }), "what is that?")
  replay.close()
  file = `${scratch.path}/made-up.obxrun`
  await orangeboxHere(["export", "-o", file, "--data", scratch.path])
})
afterAll(() => scratch.remove())

const BODY = ["--body", "response"]

test.each([
  ["show"],
  ["show", "--all"],
  ["show", "--json"],
  ["step", "last#2"],
  ["step", "last#2", "--json"],
  ["step", "last#2", ...BODY],
  ["step", "last#2", ...BODY, "--json"],
  ["step", "last#3", "--body", "result"],
  ["search", "unicorn"],
  ["search", "unicorn", "--json"],
  ["decisions"],
  ["decisions", "--json"],
  ["decisions", "--jsonl"],
  ["decisions", "--otel"],
  ["report"],
  ["report", "--json"],
  ["report", "--md"],
])("[P-02] what a replay made up has its mark wherever it is read: %s %s %s %s", async (...args) => {
  const { stdout, stderr, exitCode } = await orangeboxHere([...args, "--data", scratch.path])
  expect(exitCode, stderr).toBeLessThan(2)
  expect(stdout).toContain("unicorn")
  // Places that were found are read one by one, everything else is read whole.
  const parts = args[0] === "search" ? stdout.split(/\n(?=run_)|\n {4}\{/) : [stdout]
  for (const part of parts) if (part.includes("unicorn")) expect(part).toContain("simulated")
})

test("[P-02] a replay of what was made up is exact, and keeps the mark", async () => {
  const { events, bodies } = await readPortable(readFileSync(file))
  const reading = tapeOf(events, bodies)
  if (!reading.ok) throw new Error("no tape")
  const folder = join(scratch.path, "again")
  const replay = replayRecorder(reading.tape, { ...OPTIONS, folder })
  await agent(replay.startRun({ entrypoint: "guess", input: "what is that?" }), "what is that?")
  expect(replay.certify({ events, bodies })).toMatchObject({ issued: true })
  replay.close()
  for (const args of [["show"], ["show", "--json"], ["step", "last#2", ...BODY], ["decisions"], ["report", "--json"]]) {
    const { stdout } = await orangeboxHere([...args, "--data", folder])
    expect(stdout, args.join(" ")).toContain("unicorn")
    expect(stdout, args.join(" ")).toContain("simulated")
  }
})

test("[P-02] the list of runs tells a replay, and its file shows the same marks", async () => {
  const runs = await orangeboxHere(["runs", "--data", scratch.path])
  expect(runs.stdout).toContain("replay guess · zoo")
  const json = await orangeboxHere(["runs", "--json", "--data", scratch.path])
  expect(json.stdout).toContain(`"source_run_id": "${source}"`)
  expect((await orangeboxHere(["show", file])).stdout).toMatch(/\[simulated\] model/)
})
