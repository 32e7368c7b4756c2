import { describe, expect, test } from "vitest"
import { DIALECTS, finishKindOf, isProviderSecret, providerAccesses } from "../src/index.js"

const accessOf = (provider: string) => DIALECTS.find((dialect) => dialect.provider === provider)!.access

describe("how clients reach a provider", () => {
  test("a provider is told once, however many dialects it speaks", () => {
    expect(providerAccesses().map(({ name }) => name)).toEqual(["anthropic", "gemini", "gemini-code-assist", "openai"])
  })

  test("a key goes into the header of its own provider, and never to another", () => {
    const env = { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "o", GEMINI_API_KEY: "g" }
    expect(accessOf("anthropic").keyHeaders(env)).toEqual([["x-api-key", "a"]])
    expect(accessOf("anthropic").keyHeaders({ ANTHROPIC_AUTH_TOKEN: "t" })).toEqual([["authorization", "Bearer t"]])
    expect(accessOf("openai").keyHeaders(env)).toEqual([["authorization", "Bearer o"]])
    expect(accessOf("gcp.gemini").keyHeaders(env)).toEqual([["x-goog-api-key", "g"]])
    expect(accessOf("openai").keyHeaders({})).toEqual([])
  })

  test("every header a key is sent in is a secret one", () => {
    const env = new Proxy({}, { get: () => "key" })
    for (const access of providerAccesses()) {
      for (const [name] of access.keyHeaders(env)) expect(isProviderSecret(name)).toBe(true)
    }
  })
})

test("no two dialects mean different things by one reason to stop", () => {
  for (const { finishReasons } of DIALECTS) {
    for (const [reason, kind] of Object.entries(finishReasons)) expect(finishKindOf(reason)).toBe(kind)
  }
})
