import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { contextText } from "../src/index.js"
import { judgedTwice } from "./context-run.js"

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")

test("the README shows a context as it is really printed", () => {
  const text = contextText(judgedTwice().run.contextAt(5), { address: "last" })
  expect(readme).toContain(`\n${text}\n\`\`\``)
})
