import { expect, test } from "vitest"
import { safeHeaders, safeUrl } from "../../src/wire/safe-headers.js"

const stored = (name: string, value: string): string => safeHeaders([[name, value]])[0]![1]

test.each([
  ["content-type", "application/json"],
  ["user-agent", "client/1.2 node"],
  ["anthropic-version", "2023-06-01"],
  ["x-vendor-retry-count", "0"],
  ["x-ratelimit-remaining-tokens", "149984"],
  ["retry-after", "20"],
  ["traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"],
  ["x-request-id", "req_011CQ4zPpQdXJ"],
])("[X-05] the header %s is known to be harmless and stays readable", (name, value) => {
  expect(stored(name, value)).toBe(value)
})

test.each([
  "authorization",
  "x-api-key",
  "x-auth-token",
  "cookie",
  "x-orangebox-token",
  "x-gateway",
  "x-acme-pass",
  "x-e",
])("[X-05] the header %s is not known to be harmless and is masked", (name) => {
  const value = "q7Wz81kdPmX0vT"
  expect(stored(name, value)).not.toContain(value.slice(3, -3))
})

test("[X-05] what a redirect hands over in its address is masked, the rest of the address is not", () => {
  const secret = "q7Wz81kdPmX0vT"
  expect(stored("Location", `https://app.example.test/cb?code=${secret}&page=2`)).toBe(
    "https://app.example.test/cb?code=q7W…redacted…0vT&page=2",
  )
  expect(stored("location", `/cb?code=${secret}`)).toBe("/cb?code=…redacted…")
  expect(stored("referer", `https://ada:${secret}@example.test/`)).not.toContain(secret)
  expect(stored("location", "https://example.test")).toBe("https://example.test")
})

test("[X-05] parameters that let someone in are masked, those that ask for something are not", () => {
  const secret = "q7Wz81kdPmX0vT"
  for (const name of ["code", "session", "jwt", "hmac", "sig", "X-Amz-Signature", "access_token", "unheard_of"]) {
    expect(safeUrl(`https://example.test/v1?${name}=${secret}&alt=sse`).url).toMatch(/=q7W…redacted…0vT&alt=sse$/)
  }
  const harmless =
    "https://example.test/v1/models?alt=sse&api-version=2024-10-01-preview&page=12&mode=fast-and-cheap&beta=true"
  expect(safeUrl(harmless).url).toBe(harmless)
})
