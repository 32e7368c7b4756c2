import { expect, test } from "vitest"
import { AnswerMemory } from "../src/answer-memory.js"
import type { Reply } from "../src/reply.js"

const reply = (body: string, status = 200): Reply => ({ status, headers: {}, body })

/** A memory whose work is counted. */
function counted(most?: number) {
  const memory = new AnswerMemory(most)
  const worked: string[] = []
  const ask = async (question: string, version = "1", body = "answer", status = 200): Promise<string> => {
    const { body: text } = await memory.answer(question, version, async () => {
      worked.push(question)
      await null
      return reply(body, status)
    })
    return String(text)
  }
  return { ask, worked }
}

test("[O-03] an answer is worked out once until what it is made of changes, also when it is asked for twice at once", async () => {
  const { ask, worked } = counted()
  expect(await Promise.all([ask("/a"), ask("/a"), ask("/b")])).toEqual(["answer", "answer", "answer"])
  await ask("/a")
  expect(worked).toEqual(["/a", "/b"])
  expect(await ask("/a", "2", "another")).toBe("another")
  expect(await ask("/b", "2")).toBe("answer")
  expect(worked).toEqual(["/a", "/b", "/a", "/b"])
})

test("[O-03] a refusal is not kept, and work that failed is done again", async () => {
  const { ask, worked } = counted()
  await ask("/a", "1", "not there", 404)
  expect(await ask("/a", "1", "there now")).toBe("there now")
  expect(worked).toHaveLength(2)
  const memory = new AnswerMemory()
  await expect(memory.answer("/b", "1", () => Promise.reject(new Error("busy")))).rejects.toThrow("busy")
  expect(await memory.answer("/b", "1", async () => reply("now"))).toEqual(reply("now"))
})

test("[O-03] it holds no more than its bound: what was not asked for longest goes first, and one large answer is not kept at all", async () => {
  const { ask, worked } = counted(4000)
  for (const question of ["/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8"]) await ask(question, "1", "x".repeat(240))
  await ask("/1")
  await ask("/9", "1", "x".repeat(240))
  await ask("/1")
  await ask("/2")
  expect(worked.filter((one) => one === "/1")).toHaveLength(1)
  expect(worked.filter((one) => one === "/2")).toHaveLength(2)
  await ask("/large", "1", "x".repeat(300))
  await ask("/large", "1", "x".repeat(300))
  expect(worked.filter((one) => one === "/large")).toHaveLength(2)
})
