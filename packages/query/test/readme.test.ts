import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { skeletonText, stepText, viewRun } from "../src/index.js"
import { crashedRun, longRun } from "./sample-runs.js"

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")

test.each([
  ["crashed run", skeletonText(viewRun(crashedRun()), { address: "last" })],
  ["run of 10,001 steps", skeletonText(viewRun(longRun(2500)), { address: "last", budget: 500 })],
  ["first page of a step", stepText(viewRun(crashedRun()), 12, { address: "last", budget: 200 })],
])("the README shows a %s as it is really printed", (_, text) => {
  expect(readme).toContain(`\n${text}\n\`\`\``)
})
