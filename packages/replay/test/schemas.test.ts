import { existsSync, readdirSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { replaySchemas } from "../src/json-schemas.js"

test("[P-06] the published schemas are the ones the code reads and writes by", () => {
  const folder = new URL("../schemas/", import.meta.url)
  expect(existsSync(folder)).toBe(true)
  expect(readdirSync(folder).sort()).toEqual([...replaySchemas().keys()].sort())
  for (const [name, text] of replaySchemas()) expect(readFileSync(new URL(name, folder), "utf8")).toBe(text)
})
