import { type RecordedContext, readContext, recordedContexts, summarizeContexts, viewRun } from "@orangebox/query"
import { expect, test } from "vitest"
import type { Run, Step } from "../src/index.js"
import { recordInMemory } from "./recording.js"

const said = (role: "user" | "assistant", content: string) => ({ role, content })

/** What `context` says of the calls of a run, one word each. */
async function told(
  work: (run: Run, ask: (step: Step, system: string, ...texts: string[]) => Promise<void>) => Promise<void>,
) {
  const { recorder, sink } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "x", input: "x" })
  await work(run, async (step, system, ...texts) => {
    const messages = texts.map((text, at) => said(at % 2 === 0 ? "user" : "assistant", text))
    const request = { model: "m", max_tokens: 9, ...(system === "" ? {} : { system }), messages }
    await step.model({ provider: "anthropic", model: "m", request }, () => "ok")
  })
  run.complete()
  const contexts: readonly RecordedContext[] = recordedContexts(viewRun({ events: sink.events } as never))
  return summarizeContexts(contexts.map((context) => readContext(context, new Map()))).map(
    ({ lane, changes }) =>
      `${lane ?? "main"} ${changes?.historyLoss?.why ?? (changes ? `since ${changes.since}` : "first")}`,
  )
}

test("[M-06] a sub-agent in the same run is a lane of its own: nothing of its caller was compacted or rewritten", async () => {
  expect(
    await told(async (run, ask) => {
      const step = run.step("main")
      await ask(step, "You lead.", "task", "I look", "go on")
      const researcher = step.child("researcher")
      await ask(researcher, "You search.", "find it")
      await ask(researcher, "You search.", "find it", "found", "more?")
      researcher.end()
      await ask(step, "You lead.", "task", "I look", "go on", "it says 7", "so?")
      const again = step.child("researcher")
      await ask(again, "You search.", "find the other")
    }),
  ).toEqual(["main first", "researcher#4 first", "researcher#4 since 5", "main since 3", "researcher#8 first"])
})

test("[M-06] neither a persona nor a call before it is needed to tell a sub-agent", async () => {
  expect(
    await told(async (run, ask) => {
      const step = run.step("main")
      await ask(step.child("scout"), "", "where is it?")
      await ask(step, "", "task")
      await ask(step.child("researcher"), "", "find it")
      await ask(step, "", "task", "ok", "next")
    }),
  ).toEqual(["main first", "main#2 first", "researcher#6 first", "main#2 since 5"])
})

test("[M-06] an agent that opens a step for each turn is one lane, whose compaction and truncation are still seen", async () => {
  expect(
    await told(async (run, ask) => {
      await ask(run.step("turn"), "S", "a", "b", "c")
      await ask(run.step("turn"), "S", "a", "b", "c", "d", "e")
      await ask(run.step("turn").child("call"), "S", "a", "b", "c", "d", "e", "f", "g")
      await ask(run.step("turn"), "S", "g", "h", "i")
      await ask(run.step("turn"), "S", "all of that in one", "k")
    }),
  ).toEqual(["main first", "main since 3", "main since 5", "main truncation", "main compaction"])
})

test("[M-06] steps beside each other that ask different things were never one talk", async () => {
  expect(
    await told(async (run, ask) => {
      await ask(run.step("classify"), "Classify.", "a letter")
      await ask(run.step("answer"), "Answer.", "a letter of kind 3")
      for (const text of ["one", "two"]) await ask(run.step("grade"), "Grade.", text)
    }),
  ).toEqual(["main first", "answer#4 first", "grade#6 first", "grade#8 first"])
})
