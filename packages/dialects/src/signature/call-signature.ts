import { type BodyHash, bodyHash, canonicalJsonNode, type JsonNode } from "@orangebox/contract"
import { pathOf, sortedQueryOf } from "../address.js"
import type { CallAddress, CanonicalRequest, RequestDialect } from "../dialect.js"
import { behaviourHeadersOf } from "../dialects.js"
import { bodyOf, type JsonBody } from "../json/body.js"
import { arrayNode, objectNode, textNode } from "../json/node.js"
import { outlineOf } from "../request/read-request.js"
import { CANON_VERSION, callDigest } from "./digest.js"
import { idNaming } from "./id-naming.js"

export interface CallToSign extends CallAddress {
  /** After content-decoding. */
  readonly body: Uint8Array | JsonBody
  /** Undefined for a provider that no dialect knows: such a call is signed by its address and its body. */
  readonly dialect: RequestDialect | undefined
  readonly contentType?: string
  /** Names in lower case. Only those that change what a provider does are read, and only by `wire`. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** The signature of the call that produced an id such as `resp_…`, where it is known. */
  producerOf?(id: string): string | undefined
  /** The first call of the lane, where it is known. */
  readonly laneRoot?: string | null
  /** Accepted masks, applied to every string after the dialect's table. */
  mask?(text: string): string
}

/** Three digests of one call. Only `sig` is *the* signature; `shape` never serves an answer. */
export interface CallSignature {
  /** The request to the byte. */
  readonly wire: BodyHash
  /** The question, without what does not decide the answer. */
  readonly sig: BodyHash
  /** The family: dialect, model, tools, lane. */
  readonly shape: BodyHash
  readonly canonVersion: number
  readonly nonsemantic: CanonicalRequest["nonsemantic"]
}

export function callSignature(call: CallToSign): CallSignature {
  const body = bodyOf(call.body)
  const canonical = canonicalRequest(call.dialect, body, call)
  return {
    wire: wireDigest(call, body),
    sig: sigDigest(call, body, canonical),
    shape: shapeDigest(call, body),
    canonVersion: CANON_VERSION,
    nonsemantic: canonical?.nonsemantic ?? [],
  }
}

/** Only `sig`: each of the other digests reads the body once more, which for a long history is most of the work. */
export function requestSignature(call: CallToSign): BodyHash {
  const body = bodyOf(call.body)
  return sigDigest(call, body, canonicalRequest(call.dialect, body, call))
}

/**
 * The question as a text that is equal for equal questions and means something only beside others made with the same `numberOf`: what a
 * history says again stands in it by number. Hashing a long history for every request is most of what a signature costs.
 */
export function requestIdentity(call: CallToSign, numberOf: (piece: string) => number): string {
  const body = bodyOf(call.body)
  const canonical = canonicalRequest(call.dialect, body, call)
  if (canonical === undefined) return sigDigest(call, body, canonical)
  // No JSON text holds a NUL, so nothing a request says looks like a number of ours.
  const known = new Map([...canonical.known].map(([node, piece]) => [node, `\0${numberOf(piece)}\0`]))
  const text = canonicalJsonNode(canonical.body, { known, text: body.text })
  return text.length > LONGEST_IDENTITY ? sigDigest(call, body, canonical) : [...addressParts(call), text].join("\0")
}

const LONGEST_IDENTITY = 65_536

function sigDigest(call: CallToSign, body: JsonBody, canonical: CanonicalRequest | undefined): BodyHash {
  const text = canonical && canonicalJsonNode(canonical.body, { known: canonical.known, text: body.text })
  const question = text === undefined ? opaqueParts(body, call.contentType) : [text]
  return callDigest(call.dialect ? "model" : "http", [...addressParts(call), ...question])
}

/** The canonical body as text, for showing what two requests differ in; undefined when it is not JSON. */
export function canonicalRequestText(call: CallToSign): string | undefined {
  const body = bodyOf(call.body)
  const canonical = canonicalRequest(call.dialect, body, call)
  return canonical && canonicalJsonNode(canonical.body, { known: canonical.known, text: body.text })
}

function canonicalRequest(
  dialect: RequestDialect | undefined,
  body: JsonBody,
  call: CallToSign,
): CanonicalRequest | undefined {
  if (body.root === undefined) return undefined
  const { mask } = call
  // Masks have to see every string, so nothing is taken from notes that do not know them.
  const notes = mask || dialect === undefined ? undefined : body.notesFor(dialect.id)
  const canonical =
    dialect === undefined
      ? { body: body.root, known: NOTHING_KNOWN, nonsemantic: [] }
      : dialect.canonicalRequest(body.root, idNaming(call.producerOf), notes)
  return mask ? { ...canonical, body: mapStrings(canonical.body, mask) } : canonical
}

const NOTHING_KNOWN: CanonicalRequest["known"] = new Map()

function wireDigest(call: CallToSign, body: JsonBody): BodyHash {
  const headers = behaviourHeadersOf(call.headers ?? {})
  const address = [call.method, pathOf(call.path), sortedQueryOf(call.path)]
  return callDigest("wire", [...address, headers.join("\n"), body.bytes])
}

// A dialect's address matters only for what it says about the question: counting tokens is not asking, and some name the model there.
function addressParts(call: CallToSign): string[] {
  if (!call.dialect) return [call.method, pathOf(call.path), sortedQueryOf(call.path)]
  const model = call.dialect.pathFacts?.(call.path).model ?? ""
  return [call.dialect.id, call.dialect.endpointOf(call) ?? "generate", model]
}

function opaqueParts(body: JsonBody, contentType: string | undefined): (string | Uint8Array)[] {
  const parts = contentType === undefined ? undefined : multipartHashes(body.bytes, contentType)
  return parts ? ["multipart", ...parts] : ["bytes", body.bytes]
}

function shapeDigest(call: CallToSign, body: JsonBody): BodyHash {
  const lane = call.laneRoot ?? ""
  if (!call.dialect || body.root === undefined)
    return callDigest("shape", ["http", call.method, pathOf(call.path), lane])
  const outlined = outlineOf(call.dialect, body, call.path)?.outlined
  const tools = outlined?.tools.map((part) => part.name ?? "").sort() ?? []
  const model = outlined?.model ?? call.dialect.pathFacts?.(call.path).model ?? ""
  return callDigest("shape", [call.dialect.id, model, JSON.stringify(tools), lane])
}

/** The tree with every string value replaced; keys stay. Walked with a list, because a body may be nested as deep as it likes. */
function mapStrings(root: JsonNode, map: (text: string) => string): JsonNode {
  const results: JsonNode[] = []
  const work: { node: JsonNode; isRebuild: boolean }[] = [{ node: root, isRebuild: false }]
  for (;;) {
    const next = work.pop()
    if (next === undefined) return results[0]!
    const { node } = next
    if (next.isRebuild) results.push(rebuild(node, results))
    else if (node.kind === "string") results.push(textNode(map(node.value), node))
    else if (node.kind === "array" || node.kind === "object") {
      work.push({ node, isRebuild: true })
      const children = node.kind === "array" ? node.items : node.members.map((member) => member.value)
      for (let i = children.length - 1; i >= 0; i--) work.push({ node: children[i]!, isRebuild: false })
    } else results.push(node)
  }
}

function rebuild(node: JsonNode, results: JsonNode[]): JsonNode {
  if (node.kind === "array") return arrayNode(take(results, node.items.length), node)
  if (node.kind !== "object") return node
  const values = take(results, node.members.length)
  return objectNode(
    node.members.map((member, index) => ({ key: member.key, value: values[index]! })),
    node,
  )
}

const take = (results: JsonNode[], count: number): JsonNode[] => results.splice(results.length - count, count)

/**
 * The parts of a multipart body by their hashes, without the boundary, which is random in every request.
 * Undefined when the body is not what its content type says.
 */
function multipartHashes(bytes: Uint8Array, contentType: string): readonly BodyHash[] | undefined {
  const boundary = /^multipart\/[^;]+;.*?boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType)
  if (!boundary) return undefined
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const line = Buffer.from(`--${boundary[1] ?? boundary[2]}`)
  const hashes: BodyHash[] = []
  let from = body.indexOf(line)
  while (from >= 0) {
    const start = from + line.length
    const next = body.indexOf(line, start)
    if (next < 0) return hashes.length > 0 ? hashes : undefined
    hashes.push(bodyHash(body.subarray(start, next)))
    from = next
  }
  return undefined
}
