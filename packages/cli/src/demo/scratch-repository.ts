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
  "notes/months.md": `# Months

daysIn(year, month) in src/days.js counts months from 1. February is the short one; the tests have the rest.
`,
  "notes/leap-years.md": `# Leap years

Asked about daysIn() and leap years, people say: every fourth year. That is wrong for centuries. A century is a leap year only if 400
divides it: 1600 and 2000 were, 1700, 1800 and 1900 were not. daysIn() in src/days.js has to say 28 for February 1900 and 29 for February
2000, and the tests ask for both. Before 1582 there were other rules; we do not follow them and count as if today's had always held.
`,
  "notes/releases.md": `# Releases

On Fridays nobody publishes. Release notes are written in the past tense and go into CHANGELOG.md.
`,
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
