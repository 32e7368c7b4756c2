import { describe, expect, test } from "vitest"
import { detectDialect } from "../src/index.js"

const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))

function check(method: string, path: string, expected: string | undefined, host?: string, body?: unknown): void {
  const found = detectDialect({
    method,
    path,
    ...(host === undefined ? {} : { host }),
    requestBody: body === undefined ? undefined : bytes(body),
  })
  expect(found && `${found.dialect.id} ${found.endpoint} by ${found.by}`, `${method} ${path}`).toBe(expected)
}

describe("[K-03] a call is known by its address, else by its body", () => {
  test("by address, behind any prefix", () => {
    check("POST", "/v1/messages?beta=true", "anthropic-messages generate by address")
    check("POST", "/run_x/anthropic/v1/messages/", "anthropic-messages generate by address")
    check("POST", "/v1/messages/count_tokens", "anthropic-messages count_tokens by address")
    check("GET", "/v1/models?limit=1000", "anthropic-messages models by address", "api.anthropic.com")
    check("POST", "/v1/chat/completions", "openai-chat generate by address")
    check("POST", "/openai/deployments/prod/chat/completions?api-version=1", "openai-chat generate by address")
    check("POST", "/v1/completions", "openai-chat generate by address")
    check("GET", "/v1/models", "openai-chat models by address")
    check("POST", "/v1/responses", "openai-responses generate by address")
    check("POST", "/v1/responses/compact", "openai-responses compact by address")
    check("GET", "/v1/responses/resp_1?stream=true", "openai-responses other by address")
    check("POST", "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse", "gemini generate by address")
    check("POST", "/v1beta/models/gemini-2.5-flash:countTokens", "gemini count_tokens by address")
    check("POST", "/v1/threads/t/messages", undefined, "api.openai.com")
  })

  test("by body, where a gateway renamed the path", () => {
    const messages = [{ role: "user", content: "hi" }]
    check("POST", "/model/x/invoke", "anthropic-messages generate by body", undefined, {
      anthropic_version: "b",
      messages,
      max_tokens: 1,
    })
    check("POST", "/llm", "anthropic-messages generate by body", undefined, {
      model: "m",
      system: "s",
      messages,
      max_tokens: 1,
    })
    check("POST", "/llm", "openai-chat generate by body", undefined, { model: "m", messages, max_completion_tokens: 9 })
    check("POST", "/llm", "openai-responses generate by body", undefined, {
      model: "m",
      instructions: "s",
      input: "hi",
    })
    check("POST", "/llm", "gemini generate by body", undefined, { contents: [{ parts: [{ text: "hi" }] }] })
  })

  test("an unknown provider stays unknown", () => {
    check("POST", "/v2/chat", undefined, "api.cohere.com", { model: "m", messages: [{ role: "user", content: "hi" }] })
    check("POST", "/v1/embeddings", undefined, "api.openai.com", { model: "m", input: "hi" })
    check("GET", "/", undefined)
    check("POST", "/x", undefined, undefined, "no object")
  })
})
