import type { JsonNode } from "@orangebox/contract"

type JsonString = Extract<JsonNode, { kind: "string" }>
type JsonObject = Extract<JsonNode, { kind: "object" }>

/** A piece of a text that a provider sends a few characters at a time. */
export interface TextDelta {
  /** One of several answers that may come interleaved; within a lane one block follows the other. */
  readonly lane: string
  /** The text it is a piece of, unique within the stream. */
  readonly block: string
  readonly node: JsonString
}

export interface FrameText {
  readonly deltas: readonly TextDelta[]
  /** Lanes whose block is whole with this frame. */
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
const PLACE_KEYS = ["index", "output_index", "content_index", "summary_index", "item_id"] as const
const FINISH_KEYS = new Set(["finish_reason", "finishReason", "done_reason"])

/**
 * The pieces of text in one frame of a streamed answer, and which texts are whole with it. Told by shape and not by provider, because an
 * unknown provider's stream has to be read for secrets as well: what stands under a `delta`, under the parts of a candidate, or in the
 * message of a line protocol goes on in the next frame; any other text is complete where it stands.
 */
export function textDeltas(root: JsonNode): FrameText {
  if (root.kind !== "object") return NO_TEXT
  const type = textAt(root, "type")
  const deltas: TextDelta[] = []
  const ends: string[] = []
  const place = PLACE_KEYS.map((key) => scalarAt(root, key)).join("|")
  const isLine = root.members.some(({ key }) => key === "done")

  const visit = (node: JsonNode, path: string, lane: string, goesOn: boolean, depth: number): void => {
    if (depth > DEEPEST) return
    if (node.kind === "array") {
      const isChoice = path === "/choices" || path === "/candidates"
      node.items.forEach((item, i) => {
        const index = (item.kind === "object" ? scalarAt(item, "index") : "") || String(i)
        visit(item, `${path}/${index}`, isChoice ? index : lane, goesOn, depth + 1)
      })
      return
    }
    if (node.kind !== "object") return
    for (const { key, value } of node.members) {
      if (FINISH_KEYS.has(key) && value.kind === "string") ends.push(lane)
      const inner = `${path}/${key}`
      const inDelta = goesOn || key === "delta" || (key === "parts" && path.startsWith("/candidates"))
      if (value.kind !== "string") visit(value, inner, lane, inDelta || (isLine && key === "message"), depth + 1)
      else if (TEXT_KEYS.has(key) && (inDelta || (isLine && key === "response")))
        deltas.push({ lane, block: `${type}|${place}|${inner}`, node: value })
    }
  }
  visit(root, "", "", /delta$/.test(type), 0)

  const isEnd = WHOLE.test(type) || (isLine && scalarAt(root, "done") === "true")
  return { deltas, ends: isEnd ? "all" : ends }
}

const NO_TEXT: FrameText = Object.freeze({ deltas: [], ends: [] })
const DEEPEST = 12
const WHOLE = /(?:_stop|[._]done|\.completed|\.failed|\.incomplete|^error)$/

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
