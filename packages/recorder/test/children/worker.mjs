// Records from worker threads and from the main thread at once, all into one folder.
import { isMainThread, Worker, workerData } from "node:worker_threads"
import { Recorder } from "@orangebox/recorder"

const folder = isMainThread ? process.argv[2] : workerData
const recorder = Recorder.open({ app: isMainThread ? "main" : "worker", folder })
const run = recorder.startRun({ entrypoint: "count" })
for (let i = 0; i < 500; i++) run.log.info("tick", { i })
run.complete()

if (isMainThread) {
  await Promise.all(
    Array.from(
      { length: 3 },
      () => new Promise((done) => new Worker(new URL(import.meta.url), { workerData: folder }).on("exit", done)),
    ),
  )
}
