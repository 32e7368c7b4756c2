import { dialectOfBytes, foldResponse } from "@orangebox/dialects"
import fc from "fast-check"
import { expect, test } from "vitest"
import { asAfterMove, asBeforeMove } from "../src/match/moved-tree.js"

const MOVED = { from: "/home/ann/my repo", to: "/tmp/orangebox-fork-x/my repo" }
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8")

test.each([
  ["/home/ann/my repo/a.ts", "/tmp/orangebox-fork-x/my repo/a.ts"],
  ["cd /home/ann/my repo && ls", "cd /tmp/orangebox-fork-x/my repo && ls"],
  ["file:///home/ann/my repo/a.ts", "file:///tmp/orangebox-fork-x/my repo/a.ts"],
  ["it is in /home/ann/my repo.", "it is in /tmp/orangebox-fork-x/my repo."],
  ["first\n/home/ann/my repo\tlast", "first\n/tmp/orangebox-fork-x/my repo\tlast"],
  [JSON.stringify("a\n/home/ann/my repo/b"), JSON.stringify("a\n/tmp/orangebox-fork-x/my repo/b")],
  ["/home/ann/my repo2/a.ts", "/home/ann/my repo2/a.ts"],
  ["/home/ann/my repo.git", "/home/ann/my repo.git"],
  ["/home/ann/my repo-old", "/home/ann/my repo-old"],
  ["/mnt/home/ann/my repo/a.ts", "/mnt/home/ann/my repo/a.ts"],
])("[P-11] %s is told to an agent in a copy as %s", (said, told) => {
  const answer = Buffer.from(JSON.stringify({ content: said }))
  expect(JSON.parse(text(asAfterMove(answer, false, MOVED)))).toEqual({ content: told })
})

/** A streamed tool call whose arguments come in pieces of any size. */
function streamed(input: string, cuts: readonly number[]): Buffer {
  const places = [...new Set(cuts.map((cut) => cut % input.length))].sort((a, b) => a - b)
  const pieces = [0, ...places].map((from, at, all) => input.slice(from, all[at + 1] ?? input.length))
  const frames = [
    { type: "message_start", message: { id: "m", type: "message", role: "assistant", model: "claude-x", content: [] } },
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "tool_use", id: "toolu_1", name: "read", input: {} },
    },
    ...pieces.map((partial_json) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json },
    })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 5 } },
    { type: "message_stop" },
  ]
  return Buffer.from(frames.map((frame) => `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`).join(""))
}

test("[P-11] a path in a stream is rewritten wherever the stream cuts it, and nothing else changes", () =>
  fc.assert(
    fc.property(
      fc.constantFrom(`${MOVED.from}/src/a.ts`, MOVED.from, "/etc/hosts", `${MOVED.from}-old/x`),
      fc.array(fc.nat(200), { maxLength: 8 }),
      (path, cuts) => {
        const given = streamed(JSON.stringify({ path, n: 1 }), cuts)
        const told = asAfterMove(given, true, MOVED)
        const dialect = dialectOfBytes(given)!
        const inputOf = (bytes: Uint8Array) =>
          (foldResponse(dialect, bytes).message as { content: { input: object }[] }).content[0]!.input
        const isMoved = path === MOVED.from || path.startsWith(`${MOVED.from}/`)
        expect(inputOf(told)).toEqual({ path: isMoved ? MOVED.to + path.slice(MOVED.from.length) : path, n: 1 })
        if (!isMoved) expect(text(told)).toBe(text(given))
      },
    ),
  ))

test("[P-11] what an agent in a copy asks is compared as it would ask in the recorded tree, and the mask names itself", () => {
  const asked = { text: JSON.stringify({ cwd: MOVED.to, out: `${MOVED.to}/a\n${MOVED.from}2` }), taken: new Map() }
  const before = asBeforeMove(asked, MOVED)
  expect(JSON.parse(before.text)).toEqual({ cwd: MOVED.from, out: `${MOVED.from}/a\n${MOVED.from}2` })
  expect([...before.taken.keys()]).toEqual(["workspace:path"])
  expect(asBeforeMove(asked, null)).toBe(asked)
})
