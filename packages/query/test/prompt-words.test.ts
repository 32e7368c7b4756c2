import { expect, test } from "vitest"
import { promptWords } from "../src/prompt-words.js"

test("[Q-01] a part of a prompt says its kind once, whether its contributor was named by the application or read off the traffic", () => {
  const parts = ["read_file", "tool:read_file", "mytool:read_file"]
  const segments = parts.map((contributor) => ({ kind: "tool-def", contributor, size: 9 }))
  const prompt = { segments, unit: "chars", total: 27, tokenBudget: undefined, excluded: undefined } as const
  expect(promptWords(prompt, 100)).toEqual({
    label: "prompt tool:read_file(9) · tool:read_file(9) · tool:mytool:read_file(9)",
    verdict: "27 chars",
  })
})
