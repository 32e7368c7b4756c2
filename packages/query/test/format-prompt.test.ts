import { expect, test } from "vitest"
import { promptWords } from "../src/format-prompt.js"

test("[Q-01] a part of a prompt says its kind once, whether its contributor was named by the application or read off the traffic", () => {
  const parts = ["read_file", "tool:read_file", "mytool:read_file"]
  const segments = parts.map((contributor) => ({ kind: "tool-def", contributor, size: 9, hash: undefined }))
  const prompt = { segments, unit: "chars", total: 27, tokenBudget: undefined, excluded: undefined } as const
  expect(promptWords(prompt, 100)).toEqual({
    label: "prompt tool:read_file(9) · tool:read_file(9) · tool:mytool:read_file(9)",
    verdict: "27 chars",
  })
})

const promptOf = (segments: readonly (readonly [kind: string, contributor: string, size: number, hash: string])[]) => ({
  segments: segments.map(([kind, contributor, size, hash]) => ({ kind, contributor, size, hash })),
  unit: "chars" as const,
  total: segments.reduce((sum, [, , size]) => sum + size, 0),
  tokenBudget: undefined,
  excluded: undefined,
})

test("[Q-10] a prompt that repeats the one before says what is new in it, what changed, what is gone, and how much is as before", () => {
  const tool = ["tool-def", "read_file", 202, "a"] as const
  const persona = ["persona", "coder", 144, "b"] as const
  const before = promptOf([tool, persona, ["skill", "web", 80, "s"], ["history", "conversation", 500, "c"]])
  const after = promptOf([tool, persona, ["history", "conversation", 700, "d"], ["user-msg", "user", 61, "e"]])
  expect(promptWords(after, 100, before).label).toBe(
    "prompt + user(61) · ~ history(700, +200) · − 1 gone · 2 as before",
  )
  expect(promptWords(before, 100, before).label).toBe("prompt 4 as before")
})

test("[Q-10] prompts that share nothing are not compared", () => {
  const first = promptOf([["persona", "coder", 144, "a"]])
  const second = promptOf([["persona", "critic", 90, "b"]])
  expect(promptWords(second, 100, first).label).toBe("prompt persona(90)")
})
