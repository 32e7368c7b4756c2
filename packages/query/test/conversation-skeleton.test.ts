import { expect, test } from "vitest"
import { conversationJson, conversationText, viewRun } from "../src/index.js"
import { crashedRun, longRun, retriedRun } from "./sample-runs.js"

const good = viewRun(retriedRun())
const crashed = viewRun(crashedRun())

test("[Q-01] a conversation is its runs in order, each opened as far as the budget reaches", () => {
  const text = conversationText([good, crashed, viewRun(longRun(3))], { budget: 4000 })
  expect(text.split("\n")[0]).toBe("conversation · 3 runs · 1 went wrong · 53.9k tokens in")
  expect(text).toMatch(/^ {2}#5 └ model .*2 of 3 attempts failed/m)
  expect(text).toContain("✗ process 4711 died in #13")
  expect(text).toContain("✗ process 4711 died in #13")
})

test("[Q-01] runs that do not fit are folded and counted, the broken one stays", () => {
  const runs = [...Array.from({ length: 200 }, () => good), crashed, ...Array.from({ length: 100 }, () => good)]
  const text = conversationText(runs, { budget: 330 })
  expect(text).toContain("of 301 runs shown")
  expect(text).toContain("✗ process 4711 died in #13")
  const folded = [...text.matchAll(/^… (\d+) runs?, all ok$/gm)].reduce((sum, [, count]) => sum + Number(count), 0)
  const { shown, total, runs: listed } = conversationJson(runs, { budget: 330 })
  expect(shown + folded).toBe(total)
  expect(listed).toHaveLength(shown)
  expect(listed.map((run) => run.status)).toContain("crashed")
})
