import { type BodyHash, type JsonNode, type Segment, textHash } from "@orangebox/contract"
import type { RequestDialect } from "../dialect.js"
import { bodyOf, type JsonBody } from "../json/body.js"
import { type BodyNotes, pieceOf } from "../memory/notes.js"
import type { PromptPart, RequestOutline, Sampling, ServerContext } from "./outline.js"
import { partHash } from "./part-hash.js"
import { segmentDetails } from "./segment-details.js"

/** What a request to a model is made of. */
export interface RequestAnatomy extends OutlinedRequest {
  /** The prompt in the order the model reads it; one for each of `parts`. */
  readonly segments: readonly PromptSegment[]
  readonly totalLength: number
  readonly cacheMarks: readonly CacheMark[]
  readonly prefix: PrefixFingerprint
  /** `warm` when the request can only be meant to fill the cache; whether any other is real, only its sender knows. */
  readonly cacheUse: "warm" | "unknown"
  /** The segments with all that is worked out about them; asked for when there is time, for it costs a look at everything new. */
  detailed(): readonly Segment[]
}

/** The same without anything that has to be hashed. */
export interface OutlinedRequest {
  readonly dialect: string
  readonly model: string | null
  readonly stream: boolean
  readonly sampling: Sampling
  /** Everything that is neither prompt, model nor framing, by name, as sent. */
  readonly params: Readonly<Record<string, JsonNode>>
  readonly thinking: JsonNode | null
  /** Every part of the prompt in the order the model reads it. */
  readonly parts: readonly PromptPart[]
  readonly system: readonly PromptPart[]
  readonly tools: readonly PromptPart[]
  readonly messages: readonly MessageOutline[]
  readonly serverContext: readonly ServerContext[]
  readonly conversationHint: string | null
}

export interface MessageOutline {
  readonly index: number
  readonly role: string | null
  readonly parts: readonly PromptPart[]
}

export interface PromptSegment {
  /** The contract's segment; `length` counts the bytes of the part as it was sent. */
  readonly segment: Segment & { readonly segment_hash: BodyHash }
  /** Byte span in the request body. */
  readonly start: number
  readonly end: number
}

export interface CacheMark {
  /** Position in `segments`: everything up to and including it is asked to be cached. */
  readonly segment: number
  readonly ttl: string | null
}

export interface PrefixFingerprint {
  /** Hash of model and prompt up to the last cache mark; null when the request sets none. */
  readonly fingerprint: BodyHash | null
  /** Prompt bytes up to that mark. */
  readonly length: number | null
  /** The same hash after every segment: two requests share a prefix exactly as long as these are equal. */
  readonly rolling: readonly BodyHash[]
}

/**
 * Undefined when the body is not JSON, and so no request in any dialect known here.
 * Some dialects name the model in the path, so hand it in where it is known.
 */
export function readRequest(
  dialect: RequestDialect,
  request: Uint8Array | JsonBody,
  path?: string,
): RequestAnatomy | undefined {
  const body = bodyOf(request)
  const found = outlineOf(dialect, body, path)
  if (found === undefined) return undefined
  const { outlined, wholeMark } = found
  const notes = body.notesFor(dialect.id)
  const segments = segmentsOf(outlined.parts, body, notes)
  const cacheMarks = cacheMarksOf(outlined.parts, wholeMark)
  return {
    segments,
    totalLength: segments.reduce((sum, { segment }) => sum + segment.length, 0),
    cacheMarks,
    prefix: prefixOf(outlined, segments, cacheMarks, notes),
    cacheUse: cacheMarks.length > 0 && (outlined.sampling.maxTokens ?? 2) <= 1 ? "warm" : "unknown",
    detailed: () => detailedSegments(outlined.parts, segments, cacheMarks, body.text),
    ...outlined,
  }
}

export interface OutlineFound {
  readonly outlined: OutlinedRequest
  readonly wholeMark: RequestOutline["wholeMark"]
}

export function outlineOf(dialect: RequestDialect, body: JsonBody, path: string | undefined): OutlineFound | undefined {
  if (body.root?.kind !== "object") return undefined
  const notes = body.notesFor(dialect.id)
  if (notes.outline?.path !== path || notes.outline === undefined) {
    notes.outline = { path, found: newOutline(dialect, body.root, body.text, path) }
  }
  return notes.outline.found
}

function newOutline(dialect: RequestDialect, root: JsonNode, text: string, path: string | undefined): OutlineFound {
  const outline = dialect.outlineRequest(root, text)
  const fromPath = path === undefined ? undefined : dialect.pathFacts?.(path)
  const outlined: OutlinedRequest = {
    dialect: dialect.id,
    model: outline.model ?? fromPath?.model ?? null,
    stream: fromPath?.stream ?? outline.stream,
    sampling: outline.sampling,
    params: Object.fromEntries(outline.params.map(({ name, value }) => [name, value])),
    thinking: outline.thinking,
    parts: outline.parts,
    system: outline.parts.filter((part) => part.kind === "system"),
    tools: outline.parts.filter((part) => part.kind === "tool-def"),
    messages: messagesOf(outline.parts),
    serverContext: outline.serverContext,
    conversationHint: outline.conversationHint,
  }
  return { outlined, wholeMark: outline.wholeMark }
}

function segmentsOf(parts: readonly PromptPart[], body: JsonBody, notes: BodyNotes): PromptSegment[] {
  const names = new Map<string, string>()
  for (const part of parts) if (part.kind === "tool-call" && part.callId) names.set(part.callId, part.name ?? "")
  const lastAssistant = parts.findLastIndex((part) => part.role === "assistant")
  return parts.map((part, index) => {
    const start = body.byteOffset(part.node.start)
    const end = body.byteOffset(part.node.end)
    const toolName = part.name ?? (part.callId === null ? undefined : names.get(part.callId)) ?? "?"
    const segment = {
      contributor: contributorOf(part, toolName),
      kind: segmentKindOf(part, index > lastAssistant),
      role: part.role,
      length: end - start,
      segment_hash: partHash(part.node, notes),
    }
    return { segment, start, end }
  })
}

function detailedSegments(
  parts: readonly PromptPart[],
  segments: readonly PromptSegment[],
  marks: readonly CacheMark[],
  text: string,
): Segment[] {
  const ttlAt = new Map(marks.map(({ segment, ttl }) => [segment, ttl]))
  let place = -1
  // Field by field: a long history has hundreds of them, and a spread costs more than all that is in it.
  return segments.map(({ segment: { contributor, kind, role, length, segment_hash } }, at) => {
    const part = parts[at]!
    const before = parts[at - 1]
    const goesOn = before?.message === part.message && (part.message !== null || before.kind === part.kind)
    place = goesOn ? place + 1 : 0
    const full: Segment = { contributor, kind, role: role?.slice(0, 64) ?? null, length, segment_hash, part: place }
    if (part.message !== null) full.message = part.message
    const ttl = ttlAt.get(at)
    if (ttl !== undefined) full.mark = { ttl: ttl?.slice(0, 64) ?? null }
    if (part.callId) full.tool_call_id = part.callId.slice(0, MAX_NAME)
    if (part.kind === "tool-result" && part.isError !== null) full.is_error = part.isError
    const details = segmentDetails(part, segment_hash, text)
    full.canonical_hash = details.canonical_hash
    if (details.media_hash) full.media_hash = details.media_hash
    if (details.stable_hash) full.stable_hash = details.stable_hash
    if (details.volatile) full.volatile = details.volatile
    if (details.volatile_count) full.volatile_count = details.volatile_count
    return full
  })
}

function cacheMarksOf(parts: readonly PromptPart[], wholeMark: RequestOutline["wholeMark"]): CacheMark[] {
  const marks: CacheMark[] = []
  parts.forEach((part, segment) => {
    if (part.cacheMark) marks.push({ segment, ttl: part.cacheMark.ttl })
  })
  const last = parts.length - 1
  if (wholeMark && last >= 0 && marks.at(-1)?.segment !== last) marks.push({ segment: last, ttl: wholeMark.ttl })
  return marks
}

function prefixOf(
  { model, parts }: OutlinedRequest,
  segments: readonly PromptSegment[],
  marks: readonly CacheMark[],
  notes: BodyNotes,
): PrefixFingerprint {
  let running = textHash(`prefix\0${model ?? ""}`)
  const rolling = segments.map(({ segment: { role, segment_hash } }, index) => {
    const piece = pieceOf(notes, parts[index]!.node)
    if (piece.prefix?.before !== running || piece.prefix.role !== role) {
      const after = textHash(`${running}\0${role ?? ""}\0${segment_hash}`)
      piece.prefix = { before: running, role, after }
    }
    running = piece.prefix.after
    return running
  })
  const last = marks.at(-1)?.segment
  if (last === undefined) return { fingerprint: null, length: null, rolling }
  const length = segments.slice(0, last + 1).reduce((sum, { segment }) => sum + segment.length, 0)
  return { fingerprint: rolling[last]!, length, rolling }
}

function messagesOf(parts: readonly PromptPart[]): MessageOutline[] {
  const messages = new Map<number, { index: number; role: string | null; parts: PromptPart[] }>()
  for (const part of parts) {
    if (part.message === null) continue
    const message = messages.get(part.message)
    if (message) message.parts.push(part)
    else messages.set(part.message, { index: part.message, role: part.role, parts: [part] })
  }
  return [...messages.values()]
}

const MAX_NAME = 512

/**
 * Who put a part into the prompt. Named so that the same contributor has the same name in every request: what a tool costs in every prompt
 * is the sum of `tool:<name>`, what it brings in is the sum of `tool-result:<name>`.
 */
function contributorOf(part: PromptPart, toolName: string): string {
  switch (part.kind) {
    case "tool-def":
      return cut(`tool:${toolName}`)
    case "tool-result":
      return cut(`tool-result:${toolName}`)
    case "system":
      return "system"
    default:
      return cut(part.role ?? "?")
  }
}

/**
 * From the wire alone a skill or an agent profile looks like any other system text, so those kinds come only from a recorder that
 * assembled the prompt itself.
 */
function segmentKindOf(part: PromptPart, isLatest: boolean): Segment["kind"] {
  if (part.kind === "tool-def") return "tool-def"
  if (part.kind === "system") return "persona"
  return isLatest && part.role === "user" && part.kind !== "tool-result" ? "user-msg" : "history"
}

const cut = (name: string): string => (name.length > MAX_NAME ? name.slice(0, MAX_NAME).toWellFormed() : name || "?")
