// Delegates to a sub-agent, and is killed while its own model is still answering.
import { Recorder } from "@orangebox/recorder"

const recorder = Recorder.open({ app: "killed", folder: process.argv[2] })
const run = recorder.startRun({ entrypoint: "lead", input: "write a poem" })
const sub = run.startRun({ entrypoint: "researcher", input: "find rhymes" })
await sub.tool({ name: "look_up", args: { word: "moon" }, effect: "read" }, () => "soon")
sub.complete({ output: "soon" })
await run.tool({ name: "note", args: { text: "soon" }, effect: "read" }, () => "noted")
const call = run.startModel({ provider: "own", model: "m", request: { prompt: "a poem" } })
call.chunk(Buffer.from("The moon rises soon, "))
call.chunk(Buffer.from("and then"))
process.kill(process.pid, "SIGKILL")
