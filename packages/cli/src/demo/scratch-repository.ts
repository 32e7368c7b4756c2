import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { makeTemporaryFolder, type TemporaryFolder } from "./temporary-folder.js"

/** A small project with a real bug and a real test, for the demo's agent to work on. */
export function createScratchRepository(): TemporaryFolder {
  const folder = makeTemporaryFolder("repo-")
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder.path, name)), { recursive: true })
    writeFileSync(join(folder.path, name), text)
  }
  return folder
}

const FILES: Readonly<Record<string, string>> = {
  "package.json": `${JSON.stringify({ name: "calendar", private: true, type: "module" }, null, 2)}\n`,
  "src/days.js": `const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** How many days a month has. Months count from 1. */
export function daysIn(year, month) {
  return DAYS[month - 1]
}
`,
  "test/days.test.js": `import assert from "node:assert/strict"
import { test } from "node:test"
import { daysIn } from "../src/days.js"

test("January has 31 days", () => assert.equal(daysIn(2023, 1), 31))
test("February has 28 days in a common year", () => assert.equal(daysIn(2023, 2), 28))
test("February has 29 days in a leap year", () => assert.equal(daysIn(2024, 2), 29))
test("February has 28 days in 1900", () => assert.equal(daysIn(1900, 2), 28))
test("February has 29 days in 2000", () => assert.equal(daysIn(2000, 2), 29))
`,
}
