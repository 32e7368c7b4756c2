import { type Segment, validatePayload } from "@orangebox/contract"
import { describe, expect, test } from "vitest"
import { dialectOf, readRequest } from "../src/index.js"

const bytes = (body: unknown): Uint8Array =>
  new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body))
const read = (dialect: string, body: unknown, path?: string) => readRequest(dialectOf(dialect)!, bytes(body), path)!
const brief = (segments: readonly { segment: Segment }[]): string[] =>
  segments.map(({ segment }) => `${segment.contributor} · ${segment.kind} · ${segment.role}`)

const ephemeral = { cache_control: { type: "ephemeral", ttl: "1h" } }
const ANTHROPIC = {
  model: "claude-sonnet-4-5",
  max_tokens: 1024,
  temperature: 0.2,
  thinking: { type: "enabled", budget_tokens: 2000 },
  stream: true,
  metadata: { user_id: "user_ab_account__session_0123abcd-0000-4000-8000-0123456789ab" },
  messages: [
    { role: "user", content: "Läuft der Test?" },
    { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "run", input: { cmd: "npm  test" } }] },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "t1", content: "ok", is_error: false },
        { type: "text", text: "Und nun?" },
      ],
    },
  ],
  system: [{ type: "text", text: "You are a tester. 🧪", ...ephemeral }],
  tools: [{ name: "run", description: "Runs", input_schema: { type: "object" } }],
}

describe("[K-07] a request is taken apart in the order the model reads it", () => {
  test("Anthropic Messages: tools, system, messages, whatever the key order", () => {
    const anatomy = read("anthropic-messages", ANTHROPIC)
    expect(brief(anatomy.segments)).toEqual([
      "tool:run · tool-def · null",
      "system · persona · system",
      "user · history · user",
      "assistant · history · assistant",
      "tool-result:run · history · user",
      "user · user-msg · user",
    ])
    expect(anatomy).toMatchObject({
      model: "claude-sonnet-4-5",
      stream: true,
      sampling: { temperature: 0.2, maxTokens: 1024, topP: null },
    })
    expect(anatomy.thinking?.kind).toBe("object")
    expect(Object.keys(anatomy.params)).toEqual(["max_tokens", "temperature", "thinking", "metadata"])
    expect(anatomy.conversationHint).toBe("0123abcd-0000-4000-8000-0123456789ab")
    expect(anatomy.messages.map((message) => message.parts.map((part) => part.kind))).toEqual([
      ["text"],
      ["tool-call"],
      ["tool-result", "text"],
    ])
  })

  test("OpenAI Chat Completions, with the older text completions beside it", () => {
    const body = {
      model: "gpt-5",
      max_completion_tokens: 50,
      seed: 3,
      messages: [
        { role: "developer", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "Hi" },
            { type: "image_url", image_url: { url: "https://x" } },
          ],
        },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "c1", content: "seen" },
      ],
      tools: [{ type: "function", function: { name: "look" } }],
    }
    expect(brief(read("openai-chat", body).segments)).toEqual([
      "tool:look · tool-def · null",
      "system · persona · developer",
      "user · history · user",
      "user · history · user",
      "assistant · history · assistant",
      "tool-result:look · history · tool",
    ])
    expect(read("openai-chat", body).sampling).toEqual({ temperature: null, topP: null, maxTokens: 50, seed: 3 })
    expect(brief(read("openai-chat", { model: "m", prompt: "Once" }).segments)).toEqual(["user · user-msg · user"])
    expect(read("openai-chat", { messages: [] }, "/openai/deployments/my%20gpt/chat/completions").model).toBe("my gpt")
  })

  test("OpenAI Responses says what context the provider holds", () => {
    const anatomy = read("openai-responses", {
      model: "gpt-5",
      instructions: "Be brief.",
      previous_response_id: "resp_1",
      reasoning: { effort: "low" },
      prompt_cache_key: "thread-7",
      tools: [{ type: "function", name: "run" }, { type: "web_search" }],
      input: [
        { role: "user", content: "Go" },
        { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAA" },
        { type: "function_call", call_id: "c1", name: "run", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: "done" },
        {
          role: "user",
          content: [
            { type: "input_text", text: "Next" },
            { type: "input_file", file_id: "file_9" },
          ],
        },
      ],
    })
    expect(anatomy.serverContext).toEqual([
      { what: "previous_response", id: "resp_1" },
      { what: "encrypted_reasoning", id: "rs_1" },
      { what: "file", id: "file_9" },
    ])
    expect(brief(anatomy.segments)).toEqual([
      "tool:run · tool-def · null",
      "tool:web_search · tool-def · null",
      "system · persona · system",
      "user · history · user",
      "assistant · history · assistant",
      "assistant · history · assistant",
      "tool-result:run · history · tool",
      "user · user-msg · user",
      "user · user-msg · user",
    ])
    expect(anatomy.conversationHint).toBe("thread-7")
  })

  test("Gemini has its model and streaming in the path", () => {
    const body = {
      systemInstruction: { parts: [{ text: "S" }] },
      contents: [{ role: "user", parts: [{ text: "Hi" }] }],
      generationConfig: { maxOutputTokens: 9 },
    }
    const anatomy = read("gemini", body, "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse")
    expect(anatomy).toMatchObject({ model: "gemini-2.5-pro", stream: true, sampling: { maxTokens: 9 } })
    expect(brief(anatomy.segments)).toEqual(["system · persona · system", "user · user-msg · user"])
  })

  test("segments satisfy the contract and point at their bytes, also behind characters of several bytes", () => {
    const body = bytes(`\uFEFF${JSON.stringify(ANTHROPIC, null, 1)}`)
    const anatomy = readRequest(dialectOf("anthropic-messages")!, body)!
    const slices = anatomy.segments.map(({ start, end }) =>
      JSON.parse(new TextDecoder().decode(body.subarray(start, end))),
    )
    expect(slices[1]).toEqual(ANTHROPIC.system[0])
    expect(slices[2]).toBe("Läuft der Test?")
    expect(slices[5]).toEqual({ type: "text", text: "Und nun?" })
    const payload = { segments: anatomy.segments.map(({ segment }) => segment), total_length: anatomy.totalLength }
    expect(validatePayload("prompt_assembled", payload)).toEqual([])
    expect(anatomy.totalLength).toBe(anatomy.segments.reduce((sum, { start, end }) => sum + end - start, 0))
  })

  test("a body that is no JSON object has no anatomy, and odd members do no harm", () => {
    expect(readRequest(dialectOf("openai-chat")!, bytes("not json"))).toBeUndefined()
    expect(readRequest(dialectOf("openai-chat")!, bytes("[]"))).toBeUndefined()
    for (const id of ["anthropic-messages", "openai-chat", "openai-responses", "gemini"]) {
      for (const odd of [null, 5, "x", [5, null, "x"], { a: 1 }]) {
        const body = {
          model: odd,
          messages: odd,
          tools: odd,
          system: odd,
          input: odd,
          contents: odd,
          prompt: odd,
          metadata: odd,
        }
        expect(() => read(id, body)).not.toThrow()
      }
    }
  })
})

describe("[H-01] the prefix fingerprint", () => {
  const at = (messages: number, mark: number | null, more: object = {}) => ({
    ...ANTHROPIC,
    system: "S",
    ...more,
    messages: Array.from({ length: messages }, (_, i) => ({
      role: i % 2 === 0 ? "user" : "assistant",
      content: [{ type: "text", text: `m${i}`, ...(i === mark ? ephemeral : {}) }],
    })),
  })

  test("reaches to the last cache mark, and does not move when the mark moves on", () => {
    const first = read("anthropic-messages", at(3, 2))
    const second = read("anthropic-messages", at(5, 4))
    expect(first.cacheMarks).toEqual([{ segment: 4, ttl: "1h" }])
    expect(second.prefix.rolling.slice(0, 5)).toEqual(first.prefix.rolling)
    expect(first.prefix.fingerprint).toBe(second.prefix.rolling[4])
    expect(first.prefix.length).toBe(first.totalLength)
  })

  test("changes with anything before the mark and with nothing behind it", () => {
    const base = read("anthropic-messages", at(5, 2)).prefix.fingerprint
    expect(read("anthropic-messages", at(3, 2)).prefix.fingerprint).toBe(base)
    for (const more of [{ system: "T" }, { tools: [] }, { model: "claude-opus-4-5" }]) {
      expect(read("anthropic-messages", at(5, 2, more)).prefix.fingerprint).not.toBe(base)
    }
    const reordered = { tools: [{ input_schema: { type: "object" }, name: "run", description: "Runs" }] }
    expect(read("anthropic-messages", at(5, 2, reordered)).prefix.fingerprint).not.toBe(base)
  })

  test("a mark on the whole request stands on its last part; without any mark there is no fingerprint but a rolling hash", () => {
    const automatic = read("anthropic-messages", at(3, null, { cache_control: { type: "ephemeral" } }))
    expect(automatic.cacheMarks).toEqual([{ segment: 4, ttl: null }])
    const chat = read("openai-chat", {
      model: "m",
      messages: [
        { role: "user", content: "a" },
        { role: "user", content: "b" },
      ],
    })
    expect(chat.prefix).toMatchObject({ fingerprint: null, length: null })
    expect(chat.prefix.rolling).toHaveLength(2)
  })
})
