import { Recorder } from "@orangebox/recorder"
import { afterAll, beforeAll, expect, test } from "vitest"
import { jsonOf, orangeboxHere, type Scratch, scratchFolder } from "./command.js"

let scratch: Scratch
const here = (...args: string[]) => orangeboxHere([...args, "--data", `${scratch.path}/data`])

beforeAll(() => {
  scratch = scratchFolder()
  const recorder = Recorder.open({ app: "talker", folder: `${scratch.path}/data` })
  const run = recorder.startRun({ entrypoint: "talk" })
  const step = run.step("think")
  step.log.info("looked around", { n: 3 })
  step.log.debug("nothing there")
  step.log.warn("still nothing")
  step.end()
  run.complete()
  recorder.close()
})
afterAll(() => scratch.remove())

test("[Q-01] what a run logged is counted, and listed where it is asked for; warnings are always shown", async () => {
  const short = (await here("show")).stdout
  expect(short).toContain(", 2 logs (--logs shows them), 0 lost")
  expect(short).toContain('warn talker: "still nothing"')
  expect(short).not.toContain("looked around")
  const long = (await here("show", "--logs")).stdout
  expect(long).toMatch(/info talker: "looked around"\n.*debug talker: "nothing there"\n.*warn talker/)
  expect(long).not.toContain("--logs")
})

test("[Q-10] show, export and import count the same events, and name what was said later", async () => {
  expect((await here("override", "last", "--verdict", "pass", "--reason", "fine")).exitCode).toBe(0)
  const counted = /\d+ events \(\+1 said later\)/
  const [told] = counted.exec((await here("show")).stdout) ?? []
  expect(told).toBeDefined()
  const file = `${scratch.path}/run.obxrun`
  expect((await here("export", "last", "-o", file)).stdout + (await here("verify", file)).stdout).toContain(told)
  const other = ["import", file, "--data", `${scratch.path}/other`]
  expect((await orangeboxHere(other)).stdout).toContain(told)
  const { runs } = jsonOf<{ runs: { events: number; annotations: number }[] }>(
    await orangeboxHere([...other, "--json"]),
  )
  expect(`${runs[0]!.events} events (+${runs[0]!.annotations} said later)`).toBe(told)
})

test("[Q-10] a list of nothing says so", async () => {
  expect((await here("cache")).stdout).toContain("no calls")
})
