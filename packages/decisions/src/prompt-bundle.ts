import { createHash, type Hash } from "node:crypto"
import {
  asRecord,
  canonicalJson,
  type Event,
  type JsonNode,
  payloadOf,
  recordsIn,
  textHash,
  textIn,
} from "@orangebox/contract"
import {
  createRequestMemory,
  dialectByShape,
  dialectTold,
  type PromptPart,
  parseJson,
  type RequestMemory,
  readBody,
  type Sampling,
  toolSchemaOf,
} from "@orangebox/dialects"
import { isMasked } from "./captured-text.js"
import type { BundleMessage, BundleTool, PromptBundle } from "./generated.js"
import { dialectOfCall, type ModelCall } from "./model-calls.js"
import { type BodyLookup, bodyBytes } from "./recorded-run.js"

type Message = BundleMessage
type Tool = BundleTool

/** What was sent with a call, read from the bytes where they are kept, from the list of segments or the manifest where only hashes are. */
export interface SentPrompt {
  /** `none` is the observability failure: neither the text nor what it was made of is on record. */
  readonly from: "request" | "segments" | "manifest" | "none"
  readonly messages: readonly Message[]
  readonly tools: readonly Tool[]
  readonly sampling: Sampling | undefined
  /** What the request leans on and does not carry, because the provider keeps it. */
  readonly heldByProvider: readonly string[]
}

/**
 * Reads the requests of a run one after the other. Agents send their whole history with every call, so what one request shares with the
 * one before is taken over, message objects included: a run costs what is new in each call.
 */
export class PromptReader {
  readonly #bodies: BodyLookup
  readonly #memory: RequestMemory = createRequestMemory()
  readonly #messageOf = new WeakMap<
    JsonNode,
    { readonly parts: number; readonly last: JsonNode; readonly message: Message }
  >()
  readonly #toolOfNode = new WeakMap<JsonNode, Tool>()
  readonly #toolOf = new Map<string, Tool>()
  readonly #prefixes: HashedPrefix[] = []
  #lastTools: { readonly tools: readonly Tool[]; readonly canonical: string } | undefined

  constructor(bodies: BodyLookup) {
    this.#bodies = bodies
  }

  /** @param around what the step that makes the call said about it */
  read(call: ModelCall, around: readonly Event[] = []): SentPrompt {
    const bytes = bodyBytes(this.#bodies, call.requestRef)
    return bytes === undefined ? hashedPrompt(call, around) : this.#sent(call, bytes)
  }

  /** The hash of the bundle's canonical JSON, at the cost of the messages that the last few bundles did not begin with. */
  hash(bundle: PromptBundle): string {
    const prefix = this.#prefixOf(bundle.messages)
    for (let at = prefix.messages.length; at < bundle.messages.length; at++) {
      prefix.running.update(`${at > 0 ? "," : ""}${canonicalJson(bundle.messages[at])}`)
    }
    prefix.messages = bundle.messages
    const { retrieval, source, transformations } = bundle
    // In canonical order: what changes least, the messages, comes first by its name, and that is why the hash can go on from the last one.
    const rest = `"retrieval":${canonicalJson(retrieval)},"source":"${source}","tools":${this.#canonicalTools(bundle.tools)},"transformations":${canonicalJson(transformations)}`
    return `sha256:${prefix.running.copy().update(`],${rest}}`).digest("hex")}`
  }

  /** The remembered beginning that a bundle goes on from, moved to the front; a new one where there is none. */
  #prefixOf(messages: readonly Message[]): HashedPrefix {
    const at = this.#prefixes.findIndex((known) => isPrefix(known.messages, messages))
    const [known = { messages: [], running: createHash("sha256").update('{"messages":[') }] =
      at < 0 ? [] : this.#prefixes.splice(at, 1)
    this.#prefixes.unshift(known)
    if (this.#prefixes.length > REMEMBERED) this.#prefixes.pop()
    return known
  }

  #canonicalTools(tools: readonly Tool[]): string {
    if (this.#lastTools?.tools !== tools) this.#lastTools = { tools, canonical: canonicalJson(tools) }
    return this.#lastTools.canonical
  }

  #sent(call: ModelCall, bytes: Uint8Array): SentPrompt {
    const body = readBody(bytes, this.#memory)
    const dialect =
      dialectOfCall(payloadOf(call.sent.opened)) ??
      dialectTold(call.provider, body) ??
      dialectByShape(body, call.provider)
    const outline = dialect && body.root?.kind === "object" ? dialect.outlineRequest(body.root, body.text) : undefined
    if (!outline || outline.parts.length === 0) return plainPrompt(body.text)
    return {
      from: "request",
      messages: this.#messages(outline.parts, body.text),
      tools: this.#tools(outline.parts, body.text),
      sampling: outline.sampling,
      heldByProvider: [...new Set(outline.serverContext.map(({ what }) => what))],
    }
  }

  /** The tools of the call before, as the same list, where they are the same: they mostly are. */
  #tools(parts: readonly PromptPart[], text: string): readonly Tool[] {
    const tools: Tool[] = []
    for (const part of parts) if (part.kind === "tool-def") tools.push(this.#tool(part, text))
    const before = this.#lastTools?.tools
    return before?.length === tools.length && tools.every((tool, at) => tool === before[at]) ? before : tools
  }

  #messages(parts: readonly PromptPart[], text: string): Message[] {
    const messages: Message[] = []
    let group: PromptPart[] = []
    const close = (): void => {
      if (group.length > 0) messages.push(this.#message(group, text))
      group = []
    }
    for (const part of parts) {
      if (part.kind === "tool-def") continue
      const [first] = group
      const goesOn = first && first.message !== null && first.message === part.message && roleOf(first) === roleOf(part)
      if (!goesOn || part.kind === "tool-result") close()
      group.push(part)
    }
    close()
    return messages
  }

  #message(parts: readonly PromptPart[], text: string): Message {
    const first = parts[0]!.node
    const last = parts.at(-1)!.node
    const known = this.#messageOf.get(first)
    if (known && known.parts === parts.length && known.last === last) return known.message
    const message = messageOf(parts, text)
    this.#messageOf.set(first, { parts: parts.length, last, message })
    return message
  }

  #tool(part: PromptPart, text: string): Tool {
    const known = this.#toolOfNode.get(part.node)
    if (known) return known
    const raw = text.slice(part.node.start, part.node.end)
    const tool = this.#toolOf.get(raw) ?? toolOf(part, text)
    this.#toolOf.set(raw, tool)
    this.#toolOfNode.set(part.node, tool)
    return tool
  }
}

/** A hash that has taken the beginning of a bundle, up to and with these messages. */
interface HashedPrefix {
  messages: readonly Message[]
  readonly running: Hash
}

// A run switches between a handful of agents at most; each of them goes on from its own last request.
const REMEMBERED = 8

function isPrefix(known: readonly Message[], messages: readonly Message[]): boolean {
  if (known.length > messages.length || known.length === 0) return false
  for (let at = known.length - 1; at >= 0; at--) if (known[at] !== messages[at]) return false
  return true
}

/** Two messages that say the same; marks for the provider's cache move from call to call and change nothing that is said. */
export function isSameMessage(a: Message, b: Message): boolean {
  if (a === b) return true
  if (a.role !== b.role || a.content !== b.content || a.tool_call_id !== b.tool_call_id) return false
  if (!a.tool_calls && !b.tool_calls && !a.attachments && !b.attachments) return true
  return canonicalJson(a) === canonicalJson(b)
}

function roleOf(part: PromptPart): Message["role"] {
  if (part.kind === "tool-result") return "tool"
  if (part.kind === "system") return part.role === "developer" ? "developer" : "system"
  switch (part.role) {
    case "system":
    case "developer":
    case "assistant":
    case "tool":
      return part.role
    case "function":
      return "tool"
    default:
      return "user"
  }
}

function messageOf(parts: readonly PromptPart[], text: string): Message {
  const first = parts[0]!
  const content = ownText(parts.flatMap((part) => (saysText(part) ? [part.text ?? ""] : [])).join("\n"))
  const toolCalls = parts.flatMap((part) =>
    part.kind === "tool-call"
      ? [{ id: part.callId, name: part.name ?? "", arguments: ownText(part.arguments ?? "") }]
      : [],
  )
  const attachments = parts.flatMap((part) =>
    saysText(part) || part.kind === "tool-call"
      ? []
      : [{ kind: part.kind, hash: textHash(text.slice(part.node.start, part.node.end)) }],
  )
  return {
    role: roleOf(first),
    content,
    ...(isMasked(content) ? { content_form: "redacted" as const } : {}),
    ...(first.kind === "tool-result" && first.callId !== null ? { tool_call_id: first.callId } : {}),
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
    ...(attachments.length > 0 ? { attachments } : {}),
  }
}

/**
 * A piece of a text keeps the whole text alive in V8, and the text here is a request: without a copy, one message would hold on to a history
 * of a hundred others, and a long run to all its requests.
 */
const ownText = (text: string): string => (text.isWellFormed() ? Buffer.from(text, "utf8").toString("utf8") : text)

const saysText = (part: PromptPart): boolean =>
  part.text !== null && (part.kind === "text" || part.kind === "system" || part.kind === "tool-result")

function toolOf(part: PromptPart, text: string): Tool {
  const sent = toolSchemaOf(part.node)
  const schema = sent && asRecord(parseJson(text.slice(sent.start, sent.end)))
  const description = part.text === null ? null : ownText(part.text)
  return { name: part.name ?? "?", description, schema: schema ? { ...schema } : null }
}

/** A request in no dialect: what another program's record tells of it, or else one text. */
function plainPrompt(text: string): SentPrompt {
  const value = parseJson(text)
  const record = asRecord(value)
  const listed = record ? recordsIn(record, "new_messages") : []
  const messages: Message[] =
    listed.length > 0
      ? listed.map((message) => plainMessage(message))
      : [{ role: "user", content: typeof value === "string" ? value : (textIn(record ?? {}, "prompt") ?? text) }]
  const tools = record ? recordsIn(record, "tools") : []
  return {
    from: "request",
    messages: messages.map((message) =>
      isMasked(message.content) ? { ...message, content_form: "redacted" as const } : message,
    ),
    tools: tools.flatMap((tool) => {
      const name = textIn(tool, "name")
      const schema = asRecord(tool["inputSchema"]) ?? asRecord(tool["parameters"])
      if (name === undefined) return []
      return [{ name, description: textIn(tool, "description") ?? null, schema: schema ? { ...schema } : null }]
    }),
    sampling: undefined,
    heldByProvider: [],
  }
}

function plainMessage(message: { readonly [name: string]: unknown }): Message {
  const role = textIn(message, "role")
  const parts = recordsIn(message, "content")
  const content = textIn(message, "content") ?? parts.flatMap((part) => textIn(part, "text") ?? []).join("\n")
  const rest = parts.filter((part) => textIn(part, "text") === undefined)
  return {
    role: role === "system" || role === "developer" || role === "assistant" || role === "tool" ? role : "user",
    content,
    ...(rest.length > 0
      ? {
          attachments: rest.map((part) => ({
            kind: textIn(part, "type") ?? "other",
            hash: textHash(canonicalJson(part)),
          })),
        }
      : {}),
  }
}

/** Without the text: the hashes of what the prompt was made of, in its order. */
function hashedPrompt(call: ModelCall, around: readonly Event[]): SentPrompt {
  const assembled = findEvent(call, "prompt_assembled")
  const segments = assembled ? recordsIn(payloadOf(assembled), "segments") : []
  if (segments.length > 0) {
    return {
      from: "segments",
      messages: segments.flatMap((segment) => {
        const hash = textIn(segment, "segment_hash") ?? textIn(segment, "content_ref")
        if (segment["kind"] === "tool-def" || hash === undefined) return []
        return [{ role: segmentRole(segment), content: hash, content_form: "hash" as const }]
      }),
      tools: segments.flatMap((segment) => {
        const contributor = textIn(segment, "contributor") ?? ""
        if (segment["kind"] !== "tool-def") return []
        return [{ name: contributor.replace(/^tool:/, "") || "?", description: null, schema: null }]
      }),
      sampling: undefined,
      heldByProvider: [],
    }
  }
  const isManifest = ({ event_type }: Event): boolean => event_type === "context_manifest"
  const manifest = findEvent(call, "context_manifest") ?? around.findLast(isManifest)
  const manifestRef = textIn(payloadOf(manifest), "manifest_ref")
  const known = manifestRef !== undefined && call.requestRef !== null
  return {
    from: known ? "manifest" : "none",
    messages:
      call.requestRef === null ? [] : [{ role: "user", content: call.requestRef, content_form: "hash" as const }],
    tools: [],
    sampling: undefined,
    heldByProvider: [],
  }
}

function segmentRole(segment: { readonly [name: string]: unknown }): Message["role"] {
  const contributor = textIn(segment, "contributor") ?? ""
  if (contributor.startsWith("tool-result:")) return "tool"
  const role = textIn(segment, "role")
  if (role === "assistant" || role === "developer" || role === "tool" || role === "system") return role
  return segment["kind"] === "persona" ? "system" : "user"
}

function findEvent(call: ModelCall, type: Event["event_type"]): Event | undefined {
  for (const step of [call.sent, call.step]) {
    const found = step.events.findLast((event) => event.event_type === type)
    if (found) return found
  }
  return undefined
}
