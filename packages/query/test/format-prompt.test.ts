import { expect, test } from "vitest"
import { promptWords } from "../src/format-prompt.js"

test("[Q-01] a part of a prompt says its kind once, whether its contributor was named by the application or read off the traffic", () => {
  const parts = ["read_file", "tool:read_file", "mytool:read_file"]
  const segments = parts.map((contributor) => ({ kind: "tool-def", contributor, size: 9, hash: undefined }))
  const prompt = {
    segments,
    isInferred: false,
    unit: "chars",
    total: 27,
    tokenBudget: undefined,
    excluded: undefined,
  } as const
  expect(promptWords(prompt, 100)).toEqual({
    label: "prompt tool:read_file(9) · tool:read_file(9) · tool:mytool:read_file(9)",
    verdict: "27 chars",
  })
})

const promptOf = (segments: readonly (readonly [kind: string, contributor: string, size: number, hash: string])[]) => ({
  segments: segments.map(([kind, contributor, size, hash]) => ({ kind, contributor, size, hash })),
  isInferred: false,
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

test("[Q-10] a plain append has nothing gone: the message of one turn is history in the next, as it is for context", () => {
  const before = promptOf([
    ["persona", "coder", 144, "a"],
    ["user-msg", "user", 20, "b"],
  ])
  const after = promptOf([
    ["persona", "coder", 144, "a"],
    ["history", "user", 20, "b"],
    ["history", "assistant", 30, "c"],
    ["user-msg", "user", 9, "d"],
  ])
  for (const isInferred of [true, false])
    expect(promptWords({ ...after, isInferred }, 100, before).label).toBe(
      "prompt + history(30) · + user(9) · 2 as before",
    )
})

test("[Q-10] prompts that share nothing are not compared", () => {
  const first = promptOf([["persona", "coder", 144, "a"]])
  const second = promptOf([["persona", "critic", 90, "b"]])
  expect(promptWords(second, 100, first).label).toBe("prompt persona(90)")
})
