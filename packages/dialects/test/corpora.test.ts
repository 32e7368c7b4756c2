import { describe, expect, test } from "vitest"
import {
  DIALECTS,
  detectDialect,
  dialectOf,
  EMPTY_WIRE_STATE,
  foldResponse,
  type JsonRecord,
  type JsonValue,
  readRequest,
  reduceWire,
} from "../src/index.js"
import { CORPORA, type Exchange, filesBelow, hasCorpora, readCassettes, readGz } from "./corpus/cassette.js"

const here = describe.skipIf(!hasCorpora)

const record = (value: JsonValue | undefined): JsonRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value : {}

here("[K-03] recorded traffic (skipped where the corpora are absent)", () => {
  const folders = ["cassettes-pydantic-ai", "cassettes-openllmetry"].map((folder) => ({
    folder,
    ...readCassettes(folder),
  }))
  const exchanges = folders.flatMap(({ exchanges }) => exchanges)
  const calls = exchanges.flatMap((exchange) => {
    const found = detectDialect({ ...exchange, requestBody: exchange.request })
    return found?.endpoint === "generate" ? [{ exchange, dialect: found.dialect }] : []
  })

  test("every cassette is read, but for recordings of WebSockets and gRPC, which hold no HTTP exchange", () => {
    const skipped = folders.flatMap(({ skipped }) => skipped)
    expect(skipped.filter((line) => !line.endsWith(": no request"))).toEqual([])
    for (const id of ["anthropic-messages", "openai-chat", "openai-responses", "gemini"]) {
      expect(calls.filter(({ dialect }) => dialect.id === id).length, id).toBeGreaterThan(20)
    }
    console.log(
      `read ${exchanges.length} exchanges, ${calls.length} model calls; skipped ${skipped.length} files: ${reasons(skipped)}`,
    )
  })

  test("every model call has an anatomy, and its segments point at the bytes they describe", () => {
    for (const { exchange, dialect } of calls) {
      if (exchange.request.length === 0) continue
      const anatomy = readRequest(dialect, exchange.request, exchange.path)!
      expect(anatomy.model, exchange.file).not.toBeNull()
      expect(anatomy.segments.length, exchange.file).toBeGreaterThan(0)
      for (const { start, end } of anatomy.segments) {
        expect(() => JSON.parse(exchange.request.subarray(start, end).toString()), exchange.file).not.toThrow()
      }
    }
  })

  test("every answer folds, none of its events is unknown, and [K-04] its usage is the provider's", () => {
    for (const { exchange, dialect } of calls) {
      const folded = foldResponse(dialect, exchange.response)
      if (exchange.status >= 400) {
        expect(folded.error?.message, exchange.file).toBeTruthy()
        continue
      }
      expect(folded.unknownEvents, exchange.file).toEqual([])
      expect(folded.ended, exchange.file).toBe("complete")
      checkUsage(exchange, folded.usage.raw, folded.usage.tokens.prompt, folded.usage.tokens.completion)
    }
  })

  test("[P7] every recorded stream folds the same when it is cut in odd places", () => {
    for (const { exchange, dialect } of calls) {
      const whole = foldResponse(dialect, exchange.response)
      if (whole.form !== "stream") continue
      const pieces: Buffer[] = []
      for (let at = 0, size = 1; at < exchange.response.length; at += size, size = (size * 7) % 1009) {
        pieces.push(exchange.response.subarray(at, at + size))
      }
      expect(foldResponse(dialect, pieces), exchange.file).toEqual(whole)
    }
  })

  test("a Responses stream without its terminal event gives the same text and calls as with it", () => {
    const streams = calls.filter(({ dialect }) => dialect.id === "openai-responses")
    let compared = 0
    for (const { exchange, dialect } of streams) {
      const whole = foldResponse(dialect, exchange.response)
      if (whole.form !== "stream") continue
      const text = exchange.response.toString()
      const terminal = text.lastIndexOf("event: response.completed")
      if (terminal < 0) continue
      const cut = foldResponse(dialect, Buffer.from(text.slice(0, terminal)))
      expect(cut.text, exchange.file).toBe(whole.text)
      expect(cut.toolCalls, exchange.file).toEqual(whole.toolCalls)
      expect(itemsWithoutSeal(cut.message), exchange.file).toEqual(itemsWithoutSeal(whole.message))
      compared++
    }
    expect(compared).toBeGreaterThan(5)
  })

  test("[K-09] in every cassette, a request that holds an earlier answer follows an earlier call", () => {
    const lost: string[] = []
    let followed = 0
    let retried = 0
    for (const file of new Set(exchanges.map((exchange) => exchange.file))) {
      let state = EMPTY_WIRE_STATE
      exchanges
        .filter((exchange) => exchange.file === file)
        .forEach((exchange, index) => {
          const call = `c${index}`
          const found = detectDialect({ ...exchange, requestBody: exchange.request })
          const asked = reduceWire(state, { ...exchange, kind: "request", call, atMs: index, body: exchange.request })
          const answer = found && foldResponse(found.dialect, exchange.response)
          const end = "complete"
          const response = { kind: "response", call, atMs: index, status: exchange.status, end } as const
          state = reduceWire(asked.state, answer ? { ...response, answer } : response).state
          const placed = asked.facts.find((fact) => fact.fact === "call_placed")
          if (placed?.fact !== "call_placed" || index === 0) return
          const messages = readRequest(found!.dialect, exchange.request, exchange.path)!.messages
          const holdsAnswer = messages.some((message) => message.role === "assistant")
          if (placed.attemptNo > 1) retried++
          else if (holdsAnswer && placed.follows === null) lost.push(`${file} ${call}`)
          else if (holdsAnswer) followed++
        })
    }
    expect(lost).toEqual([])
    expect(followed).toBeGreaterThan(30)
    console.log(`${followed} calls follow an earlier one, ${retried} are retries`)
  })

  test("chunk lists of the AI SDK's fixtures fold as streams, with every event known", () => {
    const known: Record<string, string> = {
      anthropic: "anthropic-messages",
      openai: "openai-responses",
      azure: "openai-responses",
      xai: "openai-chat",
      deepseek: "openai-chat",
      alibaba: "openai-chat",
      mistral: "openai-chat",
      "openai-compatible": "openai-chat",
      google: "gemini",
    }
    const skipped: string[] = []
    let folded = 0
    for (const file of filesBelow("fixtures-vercel-ai", ".chunks.txt.gz")) {
      const name = file.slice(CORPORA.length)
      const provider = name.split("/")[1]!
      const id = name.includes("/chat/")
        ? "openai-chat"
        : name.includes("/responses/")
          ? "openai-responses"
          : known[provider]
      if (id === undefined || name.includes("/interactions/")) {
        skipped.push(name)
        continue
      }
      const stream = readGz(file)
        .split("\n")
        .filter((line) => line.trim() !== "")
        .map((line) => `data: ${line}\n\n`)
        .join("")
      const answer = foldResponse(dialectOf(id)!, Buffer.from(stream))
      expect(answer.unknownEvents, name).toEqual([])
      expect(answer.ended, name).toBe("complete")
      expect(answer.usage.tokens.prompt, name).not.toBeNull()
      folded++
    }
    expect(folded).toBeGreaterThan(15)
    console.log(`folded ${folded} chunk lists; skipped ${skipped.length} of protocols not known here`)
  })

  test("Gemini CLI's recorded chunk lists fold", () => {
    const dialect = DIALECTS.find(({ id }) => id === "gemini")!
    let folded = 0
    for (const file of filesBelow("responses-gemini-cli", ".responses.gz")) {
      for (const line of readGz(file).split("\n")) {
        if (line.trim() === "") continue
        const { method, response } = JSON.parse(line) as { method: string; response: JsonValue }
        if (!/^generateContent/.test(method)) continue
        const answer = foldResponse(dialect, Buffer.from(JSON.stringify(response)))
        expect(answer.parts.length + Number(answer.error !== null), file).toBeGreaterThanOrEqual(0)
        expect(answer.ended, file).toBe("complete")
        folded++
      }
    }
    expect(folded).toBeGreaterThan(10)
  })
})

function checkUsage(exchange: Exchange, raw: JsonValue, prompt: number | null, completion: number | null): void {
  const usage = record(raw)
  const told = usage["prompt_tokens"] ?? usage["promptTokenCount"]
  if (typeof told === "number") expect(prompt, exchange.file).toBeGreaterThanOrEqual(told)
  const input = usage["input_tokens"]
  if (typeof input === "number") expect(prompt, exchange.file).toBeGreaterThanOrEqual(input)
  const output = usage["completion_tokens"] ?? usage["output_tokens"]
  if (typeof output === "number") expect(completion, exchange.file).toBe(output)
}

// The provider seals its reasoning anew for the terminal event: same content, other bytes.
function itemsWithoutSeal(message: JsonValue): JsonValue[] {
  const output = record(message)["output"]
  return (Array.isArray(output) ? output : []).map((item) => ({ ...record(item), encrypted_content: null }))
}

function reasons(skipped: readonly string[]): string {
  return [...new Set(skipped.map((line) => line.split(": ").at(-1)))].join(", ")
}
