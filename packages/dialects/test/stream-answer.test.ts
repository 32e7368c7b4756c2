import Anthropic from "@anthropic-ai/sdk"
import OpenAI from "openai"
import { expect, test } from "vitest"
import { dialectOf, foldResponse, streamAnswer } from "../src/index.js"
import { ANTHROPIC, CHAT, RESPONSES, STREAMS } from "./streams.js"

const streamed = (dialect: string, whole: unknown): Uint8Array | undefined =>
  streamAnswer(dialectOf(dialect)!, Buffer.from(JSON.stringify(whole)))

test.each(STREAMS)(
  "[P-04] a whole answer of $dialect, streamed and folded again, is what it was",
  ({ dialect, whole }) => {
    const folded = foldResponse(dialectOf(dialect)!, streamed(dialect, whole)!)
    expect(folded.message).toEqual(whole)
    expect([folded.ended, folded.unknownEvents]).toEqual(["complete", []])
  },
)

/** A server that answers every request with this stream. */
const answering =
  (bytes: Uint8Array): typeof fetch =>
  async () =>
    new Response(Buffer.from(bytes), { headers: { "content-type": "text/event-stream" } })

test("[P-04] the official clients read such streams as the answers they are", async () => {
  const question = { model: "m", max_tokens: 9, messages: [{ role: "user" as const, content: "hi" }] }
  const anthropic = new Anthropic({ apiKey: "k", fetch: answering(streamed(ANTHROPIC.dialect, ANTHROPIC.whole)!) })
  const message = await anthropic.messages.stream(question).finalMessage()
  expect(message.content).toEqual((ANTHROPIC.whole as { content: unknown }).content)
  expect(message.stop_reason).toBe("tool_use")

  const chat = new OpenAI({ apiKey: "k", fetch: answering(streamed(CHAT.dialect, CHAT.whole)!) })
  const completion = await chat.chat.completions.stream(question).finalChatCompletion()
  const [choice] = (CHAT.whole as OpenAI.ChatCompletion).choices
  expect(completion.choices[0]!.finish_reason).toBe(choice!.finish_reason)
  expect(completion.choices[0]!.message.content).toBe(choice!.message.content)
  expect(completion.choices[0]!.message.tool_calls).toMatchObject(choice!.message.tool_calls ?? [])

  const responses = new OpenAI({ apiKey: "k", fetch: answering(streamed(RESPONSES.dialect, RESPONSES.whole)!) })
  const response = await responses.responses.stream({ model: "m", input: "hi" }).finalResponse()
  expect(response.output).toMatchObject((RESPONSES.whole as OpenAI.Responses.Response).output)
})

test("[P-04] what is no answer of the dialect is not streamed as one", () => {
  expect(streamed("anthropic-messages", { hello: 1 })).toBeUndefined()
  expect(streamAnswer(dialectOf("gemini")!, Buffer.from("not JSON"))).toBeUndefined()
})
