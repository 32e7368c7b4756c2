import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { RULE_NAMES } from "../src/checks/rules.js"

test("the README names every rule there is", () => {
  const text = readFileSync(new URL("../README.md", import.meta.url), "utf8")
  for (const name of RULE_NAMES) expect(text).toContain(name.startsWith("judge") ? "judge:<name>" : `\`${name}\``)
})
