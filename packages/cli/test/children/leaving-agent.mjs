// An agent that asks a model once and then ends in the way it was told, with its run and a step open.
import { Recorder } from "@orangebox/recorder"

const [folder, how, capture = "redacted", secret = ""] = process.argv.slice(2)
const recorder = Recorder.open({ app: "ender", folder, capture })
const run = recorder.startRun({ entrypoint: "end", input: "end it" })
const step = run.step("plan")
await step.model({ provider: "p", model: "m", request: { q: "?" } }, () => ({ text: "!" }))

const cause = new TypeError(`the inner reason ${secret}`)
const later = () => new Promise((resolve) => setTimeout(resolve, 10_000))

const WAYS = {
  throws: () => {
    throw new RangeError("the plan cannot be read\nits second line", { cause })
  },
  rejects: () => void Promise.reject(new AggregateError([cause, "a text", null], "all of them failed")),
  "throws text": () => {
    throw "only a text"
  },
  "throws nothing": () => {
    throw undefined
  },
  "throws an object": () => {
    throw { code: 42, hint: "no error at all" }
  },
  "throws a trap": () => {
    throw new Proxy(new Error("x"), {
      get() {
        throw new Error("hands off")
      },
    })
  },
  "throws a circle": () => {
    const error = new Error("round and round")
    error.cause = error
    throw error
  },
  "throws very much": () => {
    throw new Error("m".repeat(5_000_000))
  },
  exits: () => process.exit(1),
  "exits well": () => process.exit(0),
  "logs and exits": () => {
    process.on("uncaughtException", () => process.exit(3))
    throw new RangeError("caught at the last door")
  },
  "goes on": () => {
    process.once("uncaughtException", () => setTimeout(() => process.exit(0), 20))
    throw new RangeError("survived")
  },
  "is terminated": () => process.kill(process.pid, "SIGTERM"),
  "is killed": () => process.kill(process.pid, "SIGKILL"),
  closes: () => recorder.close(),
}

// Outside the module's own promise, or Node would call every error an unhandled rejection.
setTimeout(WAYS[how], 0)
if (how !== "closes") await later()
