import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { describe, expect, test } from "vitest"
import { mostTokens } from "../src/index.js"

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8")
const hash = (text: string): string => createHash("sha256").update(text).digest("hex")
const ids = Array.from({ length: 400 }, (_, n) =>
  [
    hash(String(n)),
    hash(`uuid ${n}`).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5"),
    `run_01M7PCSY9NSD3RNWJA${n}`,
    new Date(n * 1e9).toISOString(),
  ].join("  "),
).join("\n")

describe("[O-04] a token budget is a promise", () => {
  test.each([
    ["prose", read("README.md")],
    ["a table", read("docs/requirements.md")],
    ["JSON", read("package-lock.json")],
    ["source", read("packages/contract/src/generated.ts")],
    ["ids and times", ids],
    ["other scripts", "飛行記録装置 чёрный ящик صندوق 🟧🛩️\n".repeat(50)],
  ])("no page of %s costs more than was counted", (_, text) => {
    let [page, counted] = ["", 0]
    for (const line of text.split("\n")) {
      page += `${line}\n`
      counted += mostTokens(line) + 1
      if (counted < 110) continue
      expect(countTokens(page), page).toBeLessThanOrEqual(counted)
      ;[page, counted] = ["", 0]
    }
  })
})
