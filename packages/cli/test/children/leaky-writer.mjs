// Records a run that says a value, and stays alive until its stdin ends.
import { Recorder } from "@orangebox/recorder"

const [folder, value] = process.argv.slice(2)
const recorder = Recorder.open({ app: "leaky", folder })
const run = recorder.startRun({ entrypoint: "leak", input: `take ${value}` })
run.log.info(`saw ${value}`)
run.complete({ output: "done" })
process.stdout.write("recorded\n")
process.stdin.resume().on("end", () => recorder.close())
