import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

export interface ScratchRepository {
  readonly path: string
  remove(): void
}

/** A small project with a real bug and a real test, for the demo's agent to work on. */
export function createScratchRepository(): ScratchRepository {
  const path = mkdtempSync(join(tmpdir(), "orangebox-demo-repo-"))
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
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
