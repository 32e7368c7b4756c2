/**
 * A model server for three protocols that answers what its agent has put up for the next request, and caches prompts for real: with marks up to
 * them, looking back twenty blocks; without, the longest prefix in steps of 128 tokens.
 */
import { createHash } from "node:crypto"
import { createServer } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { PROTOCOLS, streamed } from "./protocols.mjs"

const BYTES_A_TOKEN = 4
const LEAST_TOKENS = 1024

export async function startModelServer() {
  /** What each request is answered with, by the key it carries in its address. */
  const waiting = new Map()
  const kept = new Set()
  let serial = 0
  const server = createServer((request, response) => {
    const parts = []
    request.on("data", (part) => parts.push(part))
    request.on("end", () => {
      const [path, key] = request.url.split("?key=")
      const protocol = Object.values(PROTOCOLS).find((one) => path.endsWith(one.path))
      const reply = waiting.get(key)?.shift() ?? { text: "nothing was put up" }
      answer(response, protocol, reply, Buffer.concat(parts), `${key}_${++serial}`).catch(() => response.destroy())
    })
  })
  async function answer(response, protocol, reply, bytes, id) {
    if (reply.refuse) {
      response.writeHead(reply.refuse.status, { "content-type": "application/json" })
      response.end(JSON.stringify(protocol.refusal(reply.refuse.message)))
      return
    }
    if (reply.verbatim) {
      response.writeHead(reply.verbatim.status ?? 200, { "content-type": reply.verbatim.type ?? "application/json" })
      response.end(reply.verbatim.text)
      return
    }
    const asked = JSON.parse(bytes.toString())
    const usage = cacheUse(asked, kept, reply)
    const whole = protocol.answer({ ...reply, usage }, asked.model, id)
    if (!asked.stream) {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(JSON.stringify(whole))
      return
    }
    const stream = streamed(protocol, whole)
    response.writeHead(200, { "content-type": "text/event-stream" })
    const cut = reply.breaksOff ? Math.floor(stream.length * 0.6) : stream.length
    response.write(stream.subarray(0, cut))
    if (reply.hangs) return
    if (!reply.breaksOff) response.end()
    else {
      await sleep(15)
      response.destroy()
    }
  }
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    putUp: (key, reply) => waiting.set(key, [...(waiting.get(key) ?? []), reply]),
    evict: () => kept.clear(),
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

/** What a provider would read from its cache and write to it. */
function cacheUse(asked, kept, { isEvicted }) {
  const blocks = blocksOf(asked)
  const { sizes, hashes } = prefixes(blocks, asked)
  const prompt = Math.ceil((sizes.at(-1) ?? 0) / BYTES_A_TOKEN)
  const tokens = (at) => (at < 0 ? 0 : Math.ceil(sizes[at] / BYTES_A_TOKEN))
  const marks = blocks.flatMap(({ isMarked }, at) => (isMarked && tokens(at) >= LEAST_TOKENS ? [at] : []))
  const isMarking = Array.isArray(asked.system)
  const reach = isMarking
    ? marks.flatMap((mark) =>
        hashes.slice(Math.max(0, mark - 20), mark + 1).map((_, at) => Math.max(0, mark - 20) + at),
      )
    : blocks.map((_, at) => at)
  const hit = isEvicted ? -1 : Math.max(-1, ...reach.filter((at) => kept.has(hashes[at])))
  if (isMarking) {
    const last = marks.at(-1) ?? -1
    for (const mark of marks) kept.add(hashes[mark])
    return { prompt, read: tokens(hit), written: Math.max(0, tokens(last) - tokens(hit)) }
  }
  for (const [at, hash] of hashes.entries()) if (tokens(at) >= LEAST_TOKENS) kept.add(hash)
  return { prompt, read: Math.floor(tokens(hit) / 128) * 128, written: 0 }
}

function blocksOf({ tools = [], system, instructions, messages = [], input = [] }) {
  const block = (value) => {
    const { cache_control: mark, ...rest } = typeof value === "object" && value !== null ? value : { value }
    return { text: JSON.stringify(rest), isMarked: mark !== undefined }
  }
  const head = Array.isArray(system) ? system : instructions === undefined ? [] : [instructions]
  const said = messages.flatMap(({ role, content, ...rest }) =>
    Array.isArray(content) ? content.map((part) => ({ role, ...part })) : [{ role, content, ...rest }],
  )
  return [...tools, ...head, ...said, ...input].map(block)
}

function prefixes(blocks, { model, tool_choice, thinking }) {
  const running = createHash("sha256").update(JSON.stringify([model, tool_choice, thinking]))
  let size = 0
  const sizes = []
  const hashes = []
  for (const { text } of blocks) {
    running.update(`\0${text}`)
    size += text.length
    sizes.push(size)
    hashes.push(running.copy().digest("hex"))
  }
  return { sizes, hashes }
}
