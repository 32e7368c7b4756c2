import { canonicalJson, isRecord, textHash } from "@orangebox/contract"
import { type Json, listOf, recordOf, timeOf, wordOf } from "./told-values.js"

/*
 * What newer versions of Claude Code (seen: 2.1.326) write down of their requests, between the lines of the conversation:
 *
 *   api-request-shape   `shape: {system, tools}`, by its `shapeHash`
 *   api-request-blob    a message as it was sent, by the SHA-256 of its canonical JSON; those of the model are not repeated
 *   api-request         `params`, the shape, and the messages as a list of hashes: the first `keep` of the request `base`, then `tail`;
 *                       `cacheControl` says where its marks stood
 *
 * Put together, that is the whole request. A message that does not have its hash is not used: then the request is not known.
 */
export interface SentRequest {
  readonly atMs: number
  readonly model: string | undefined
  readonly querySource: string | undefined
  /** Looked up when the call is told: by then the answers before it are complete. */
  readonly hashes: readonly string[]
  readonly line: Json
}

export class SentRequests {
  readonly #shapes = new Map<string, Json>()
  #messages = new Map<string, unknown>()
  readonly #lists = new Map<string, readonly string[]>()
  #unclaimed: SentRequest[] = []

  /** Whether the line was one of these. */
  take(line: Json, type: string): boolean {
    switch (type) {
      case "api-request-shape":
        this.#shapes.set(String(line["shapeHash"]), recordOf(line["shape"]))
        return true
      case "api-request-blob":
        this.#learn(line["message"], String(line["hash"]))
        return true
      case "api-request":
        this.#ask(line)
        return true
      default:
        return false
    }
  }

  /** What the model answered, complete: the next requests name it by its hash. */
  learnAnswer(content: readonly unknown[]): void {
    if (this.#lists.size > 0) this.#learn({ role: "assistant", content })
  }

  /** The request that an answer of this model belongs to: the last one that was sent to it. What was sent in between has no answer on record. */
  claim(model: string | null): SentRequest | undefined {
    const claimed = this.#unclaimed.findLast((sent) => model === null || isSameModel(sent.model ?? model, model))
    this.#unclaimed = []
    return claimed
  }

  /** The request as it was sent, but for its bytes; undefined where a piece of it is not in the record. */
  whole({ hashes, line }: SentRequest): Json | undefined {
    const shape = this.#shapes.get(String(line["shapeHash"]))
    const messages = hashes.map((hash) => this.#messages.get(hash))
    if (shape === undefined || messages.includes(undefined)) return undefined
    // Betas are a header.
    const { betas: _, ...params } = recordOf(line["params"])
    const request = { ...params, ...shape, messages }
    return listOf(line["cacheControl"]).map(recordOf).reduce<Json>(marked, request)
  }

  #ask(line: Json): void {
    const base = this.#lists.get(String(line["base"])) ?? []
    const keep = Number(line["keep"] ?? 0)
    const hashes = [...base.slice(0, keep), ...listOf(line["tail"]).map(String)]
    const atMs = timeOf(line["timestamp"])
    const id = wordOf(line["id"])
    if (id === undefined || atMs === undefined) return
    this.#lists.set(id, hashes)
    for (const [oldest] of this.#lists) if (this.#lists.size > MOST_LISTS) this.#lists.delete(oldest)
    // A conversation that began anew, as after a compaction, no longer needs what was said before.
    if (keep === 0 && this.#messages.size > MOST_UNUSED) this.#forget()
    const params = recordOf(line["params"])
    this.#unclaimed.push({
      atMs,
      model: wordOf(params["model"]),
      querySource: wordOf(line["querySource"]),
      hashes,
      line,
    })
  }

  #learn(message: unknown, stated?: string): void {
    if (!isRecord(message)) return
    const hash = textHash(canonicalJson(message)).replace(/^sha256:/, "")
    if (stated === undefined || stated === hash) this.#messages.set(hash, message)
  }

  #forget(): void {
    const used = new Set([...this.#lists.values()].flat())
    this.#messages = new Map([...this.#messages].filter(([hash]) => used.has(hash)))
  }
}

const MOST_LISTS = 32
const MOST_UNUSED = 256

/** A model is asked for by one name and answers by another, longer one. */
const isSameModel = (asked: string, answered: string): boolean =>
  answered.startsWith(asked.replace(/\[.*$/, "")) || asked.startsWith(answered)

/** The request with a cache mark where it stood: `["messages", 2, "content", 0]`. */
function marked(request: Json, mark: Json): Json {
  const path = listOf(mark["path"]) as readonly (string | number)[]
  return recordOf(withMark(request, path, mark["value"]))
}

function withMark(value: unknown, path: readonly (string | number)[], mark: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return isRecord(value) ? { ...value, cache_control: mark } : value
  if (Array.isArray(value)) return value.map((one, at) => (at === key ? withMark(one, rest, mark) : one))
  if (!isRecord(value) || !(key in value)) return value
  const inner = value[key]
  // Content of one text is written short; with a mark it is a block.
  const blocks = key === "content" && typeof inner === "string" ? [{ type: "text", text: inner }] : inner
  return { ...value, [key]: withMark(blocks, rest, mark) }
}
