import { createHash } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

type Json = Record<string, unknown>

/** What a provider keeps: prefixes by their hash, how long each is, and when it was last used. */
interface KeptPrefix {
  readonly tokens: number
  lastUse: number
}

export interface CachingServer {
  readonly url: string
  /** Forgets everything, as a provider under load may. */
  evict(): void
  close(): Promise<void>
}

export interface CachingOptions {
  readonly minimumTokens: number
  readonly livesMs: number
  readonly now: () => number
}

const MARK = "cache_control"
const TOKEN_BYTES = 4

/**
 * A model server that caches prompts as it says: over the Messages API at marks, looking back twenty blocks; over Chat Completions the longest
 * prefix in steps of 128 tokens. What it reports is what its cache really held, so an audit can be held against it.
 */
export async function startCachingServer(options: CachingOptions): Promise<CachingServer> {
  const kept = new Map<string, KeptPrefix>()
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as Json
      const isChat = request.url?.includes("chat") === true
      const answer = isChat ? answerChat(body, kept, options) : answerMessages(body, kept, options, request.headers)
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    evict: () => kept.clear(),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

interface Block {
  readonly text: string
  readonly isMarked: boolean
}

function answerMessages(
  body: Json,
  kept: Map<string, KeptPrefix>,
  { minimumTokens, livesMs, now }: CachingOptions,
  headers: Json,
): Json {
  const blocks = [
    ...listOf(body["tools"]).map(blockOf),
    ...textBlocks(body["system"]),
    ...listOf(body["messages"]).flatMap(blocksOf),
  ]
  // Other settings make another cache.
  const salt = JSON.stringify([body["model"], body["thinking"], body["tool_choice"], headers["x-api-key"]])
  const prefixes = prefixesOf(blocks, salt)
  const marks = blocks.flatMap((block, at) => (block.isMarked ? [at] : []))
  const isAlive = (at: number): boolean => {
    const prefix = kept.get(prefixes[at]!.hash)
    return prefix !== undefined && now() - prefix.lastUse <= livesMs
  }
  let read = 0
  for (const mark of marks.toReversed()) {
    for (let at = mark; at >= 0 && mark - at <= 20 && read === 0; at--) {
      if (isAlive(at)) read = prefixes[at]!.tokens
    }
  }
  for (const prefix of prefixes) {
    const known = kept.get(prefix.hash)
    if (known !== undefined && prefix.tokens <= read) known.lastUse = now()
  }
  const last = marks.at(-1)
  const upToMark = last === undefined ? 0 : prefixes[last]!.tokens
  const keeps = upToMark >= minimumTokens
  if (keeps)
    for (const mark of marks) kept.set(prefixes[mark]!.hash, { tokens: prefixes[mark]!.tokens, lastUse: now() })
  const written = keeps ? Math.max(0, upToMark - read) : 0
  const prompt = prefixes.at(-1)?.tokens ?? 0
  return {
    type: "message",
    id: "msg_1",
    role: "assistant",
    model: body["model"],
    content: [{ type: "text", text: "ok" }],
    stop_reason: "end_turn",
    usage: {
      input_tokens: prompt - read - written,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: written,
      output_tokens: 2,
    },
  }
}

function answerChat(body: Json, kept: Map<string, KeptPrefix>, { minimumTokens, livesMs, now }: CachingOptions): Json {
  const blocks = [...listOf(body["tools"]), ...listOf(body["messages"])].map((value) => ({
    text: JSON.stringify(value),
    isMarked: false,
  }))
  const text = `${String(body["model"])}\n${blocks.map((block) => block.text).join("\n")}`
  const size = Math.floor(text.length / TOKEN_BYTES)
  let read = 0
  for (let tokens = 128; tokens <= size; tokens += 128) {
    const hash = hashOf(text.slice(0, tokens * TOKEN_BYTES))
    const known = kept.get(hash)
    if (known !== undefined && now() - known.lastUse <= livesMs) read = tokens
    if (size >= minimumTokens) kept.set(hash, { tokens, lastUse: now() })
  }
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    model: body["model"],
    choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
    usage: {
      prompt_tokens: size,
      completion_tokens: 2,
      total_tokens: size + 2,
      prompt_tokens_details: { cached_tokens: read >= minimumTokens ? read : 0 },
    },
  }
}

function prefixesOf(blocks: readonly Block[], salt: string): { readonly hash: string; readonly tokens: number }[] {
  let bytes = 0
  let hash = hashOf(salt)
  return blocks.map(({ text }) => {
    bytes += text.length
    hash = hashOf(`${hash}\0${text}`)
    return { hash, tokens: Math.ceil(bytes / TOKEN_BYTES) }
  })
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex")

function blocksOf(message: Json): Block[] {
  const { role, content } = message
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : (content as Json[])
  return blocks.map((block) => blockOf({ role, ...block }))
}

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : [])

function textBlocks(system: unknown): Block[] {
  if (typeof system === "string") return [blockOf({ type: "text", text: system })]
  return Array.isArray(system) ? (system as Json[]).map(blockOf) : []
}

function blockOf({ [MARK]: mark, ...block }: Json): Block {
  return { text: JSON.stringify(block), isMarked: mark !== undefined }
}
