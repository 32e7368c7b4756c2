import type { JsonNode } from "@orangebox/contract"

type JsonString = Extract<JsonNode, { kind: "string" }>
type JsonObject = Extract<JsonNode, { kind: "object" }>

/** A piece of a text that a provider sends a few characters at a time. */
export interface TextDelta {
  /** The answer or content block that it belongs to. Several may come interleaved. */
  readonly lane: string
  /** The text it is a piece of, unique within the stream. */
  readonly block: string
  readonly node: JsonString
  /** No protocol we know says that this text goes on in the next frame; it may. */
  readonly isGuess?: true
}

export interface FrameText {
  readonly deltas: readonly TextDelta[]
  /** Lanes whose texts are whole with this frame. */
  readonly ends: readonly string[] | "all"
}

const TEXT_KEYS = new Set([
  "text",
  "content",
  "partial_json",
  "thinking",
  "arguments",
  "delta",
  "input",
  "refusal",
  "reasoning",
  "reasoning_content",
  "response",
  "output",
  "code",
  "transcript",
])
const PLACE_KEYS = ["index", "output_index", "content_index", "summary_index", "item_id", "toolCallId"] as const
const FINISH_KEYS = new Set(["finish_reason", "finishReason", "done_reason"])

/**
 * The pieces of text in one frame of a streamed answer, and which texts are whole with it. Told by shape and not by provider, because an
 * unknown provider's stream has to be read for secrets as well: what stands under a `delta`, under the parts of a candidate, in a choice or in
 * the message of a line protocol goes on in the next frame; any other text of a known protocol is complete where it stands. Of a frame that no
 * protocol we know has, every text may go on that is no id.
 */
export function textDeltas(root: JsonNode): FrameText {
  if (root.kind === "string") return { deltas: [{ lane: "", block: "", node: root }], ends: NONE }
  if (root.kind === "array") return { deltas: guessedDeltas(root, "", ""), ends: NONE }
  if (root.kind !== "object") return NO_TEXT
  const type = textAt(root, "type")
  const deltas: TextDelta[] = []
  const ends: string[] = []
  // Ids of parts tell texts apart where the type says that it is about a part; elsewhere every frame may have an id of its own.
  const place = [...PLACE_KEYS.map((key) => scalarAt(root, key)), PART.test(type) ? scalarAt(root, "id") : ""].join("|")
  const isLine = root.members.some(({ key }) => key === "done")

  const visit = (node: JsonNode, path: string, lane: string, goesOn: boolean, depth: number): void => {
    if (depth > DEEPEST) return
    if (node.kind === "array") {
      const isChoice = path === "/choices" || path === "/candidates"
      node.items.forEach((item, i) => {
        const index = (item.kind === "object" ? scalarAt(item, "index") : "") || String(i)
        visit(item, `${path}/${index}`, isChoice ? `choice ${index}` : lane, goesOn, depth + 1)
      })
      return
    }
    if (node.kind !== "object") return
    for (const { key, value } of node.members) {
      if (FINISH_KEYS.has(key) && value.kind === "string") ends.push(lane)
      const inner = `${path}/${key}`
      const inDelta = goesOn || key === "delta" || (key === "parts" && path.startsWith("/candidates"))
      if (value.kind !== "string") visit(value, inner, lane, inDelta || (isLine && key === "message"), depth + 1)
      else if (isTextKey(key, inDelta || (isLine && key === "response") || (key === "text" && COMPLETION.test(path))))
        deltas.push({ lane, block: `${type}|${place}|${inner}`, node: value })
    }
  }
  visit(root, "", place, /delta$/.test(type), 0)

  if (WHOLE.test(type) || (isLine && scalarAt(root, "done") === "true")) return { deltas, ends: "all" }
  if (PART_ENDS.test(type)) ends.push(place)
  if (deltas.length > 0 || ends.length > 0 || isKnown(root, type)) return { deltas, ends }
  return { deltas: guessedDeltas(root, type, place), ends }
}

const NONE: readonly string[] = Object.freeze([])
const NO_TEXT: FrameText = Object.freeze({ deltas: [], ends: NONE })
const DEEPEST = 12
/** The whole answer ends. */
const WHOLE = /^(?:message_stop|message-end|error|finish|response\.(?:completed|done|failed|incomplete))$/
/** One of its parts does. */
const PART_ENDS = /(?:_stop|[._-](?:done|end|completed|available))$/
const PART = /^[a-z]+(?:-[a-z]+)*-(?:delta|end)$/
/** Where completions stood before there were messages. */
const COMPLETION = /^\/choices\/\d+$/

const isTextKey = (key: string, goesOn: boolean): boolean =>
  (goesOn && TEXT_KEYS.has(key)) || /(?:Text|Json|text|json)_?[Dd]elta$/.test(key)

const KNOWN_TYPE =
  /^(?:message_|content_block_|response\.|ping$|(?:text|reasoning|tool|data|source|start|finish)(?:$|-))/
const KNOWN_KEYS = new Set(["choices", "candidates", "done", "usageMetadata", "error", "jsonrpc"])

function isKnown(root: JsonObject, type: string): boolean {
  return KNOWN_TYPE.test(type) || root.members.some(({ key }) => KNOWN_KEYS.has(key))
}

/** Names of what is whole in every frame: ids, kinds, times. */
const WHOLE_KEY =
  /(?:^|_)(?:id|type|event|object|model|role|name|status|created|time|at|timestamp|version|cursor|hash|kind)$|[a-z](?:Id|Type|Event|Model|Role|Name|Status|Time|At|Timestamp|Version|Cursor|Hash|Kind)$/

function guessedDeltas(root: JsonNode, type: string, place: string): TextDelta[] {
  const deltas: TextDelta[] = []
  const visit = (node: JsonNode, path: string, depth: number): void => {
    if (depth > DEEPEST) return
    if (node.kind === "string") deltas.push({ lane: place, block: `${type}|${place}|${path}`, node, isGuess: true })
    if (node.kind === "array") node.items.forEach((item, i) => void visit(item, `${path}/${i}`, depth + 1))
    if (node.kind !== "object") return
    for (const { key, value } of node.members) if (!WHOLE_KEY.test(key)) visit(value, `${path}/${key}`, depth + 1)
  }
  visit(root, "", 0)
  return deltas
}

function textAt(node: JsonObject, key: string): string {
  const value = node.members.find((member) => member.key === key)?.value
  return value?.kind === "string" ? value.value : ""
}

function scalarAt(node: JsonObject, key: string): string {
  const value = node.members.find((member) => member.key === key)?.value
  if (value?.kind === "string") return value.value
  if (value?.kind === "number") return value.lexeme
  return value?.kind === "literal" ? String(value.value) : ""
}
