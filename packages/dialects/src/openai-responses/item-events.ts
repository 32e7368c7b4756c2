import { indexOf, type JsonRecord, type JsonValue, listOf, recordOf, setOwn, textOf } from "../json/value.js"

type Place = (item: JsonRecord, event: JsonRecord) => { holder: JsonRecord; key: string }

const own =
  (key: string): Place =>
  (item) => ({ holder: item, key })

const inList =
  (list: string, index: string, key: string, fresh: JsonRecord): Place =>
  (item, event) => ({ holder: entryOf(item, list, indexOf(event[index]), fresh), key })

/** Where each kind of delta grows, and which member of its `done` event holds the whole. */
const GROWING: Readonly<Record<string, { place: Place; whole: string }>> = {
  output_text: { place: inList("content", "content_index", "text", { type: "output_text" }), whole: "text" },
  refusal: { place: inList("content", "content_index", "refusal", { type: "refusal" }), whole: "refusal" },
  reasoning_text: { place: inList("content", "content_index", "text", { type: "reasoning_text" }), whole: "text" },
  reasoning_summary_text: {
    place: inList("summary", "summary_index", "text", { type: "summary_text" }),
    whole: "text",
  },
  function_call_arguments: { place: own("arguments"), whole: "arguments" },
  mcp_call_arguments: { place: own("arguments"), whole: "arguments" },
  custom_tool_call_input: { place: own("input"), whole: "input" },
  code_interpreter_call_code: { place: own("code"), whole: "code" },
}

// They say that a tool the provider runs has moved on; the item's own events say the same and more, and hold the final picture.
const STATUS_ONLY =
  /^response\.[a-z_]+\.(in_progress|searching|interpreting|generating|completed|failed|partial_image)$/

/**
 * Events about one output item. Items are found by `output_index`: some gateways give an item another id in every event.
 * Returns false for an event of an unknown type.
 */
export function takeItemEvent(items: Map<number, JsonRecord>, type: string, event: JsonRecord): boolean {
  const index = indexOf(event["output_index"])
  if (type === "response.output_item.added" || type === "response.output_item.done") {
    items.set(index, structuredClone(recordOf(event["item"])))
    return true
  }
  if (STATUS_ONLY.test(type)) return true
  const match = /^response\.([a-z_.]+)\.(added|delta|done)$/.exec(type)
  if (!match) return false
  const [, what, stage] = match
  const item = items.get(index) ?? {}

  if (what === "content_part" || what === "reasoning_summary_part") {
    const list = what === "content_part" ? "content" : "summary"
    const place = indexOf(event[what === "content_part" ? "content_index" : "summary_index"])
    setEntry(item, list, place, recordOf(event["part"]))
  } else if (what === "output_text.annotation") {
    const part = entryOf(item, "content", indexOf(event["content_index"]), { type: "output_text" })
    part["annotations"] = [...listOf(part["annotations"]), event["annotation"] ?? null]
  } else if (what === "shell_call_command") {
    takeShellCommand(item, event, stage === "delta")
  } else {
    const rule = Object.hasOwn(GROWING, what!) ? GROWING[what!] : undefined
    if (rule === undefined) return false
    const { holder, key } = rule.place(item, event)
    if (stage === "delta") holder[key] = (textOf(holder[key]) ?? "") + (textOf(event["delta"]) ?? "")
    else if (event[rule.whole] !== undefined) holder[key] = event[rule.whole]!
  }
  items.set(index, item)
  return true
}

function takeShellCommand(item: JsonRecord, event: JsonRecord, isDelta: boolean): void {
  const action = recordOf(item["action"])
  const commands = [...listOf(action["commands"])]
  const place = boundedPlace(commands, indexOf(event["command_index"]))
  const before = textOf(commands[place]) ?? ""
  commands[place] = isDelta ? before + (textOf(event["delta"]) ?? "") : (event["command"] ?? before)
  item["action"] = { ...action, commands }
}

function entryOf(item: JsonRecord, list: string, index: number, fresh: JsonRecord): JsonRecord {
  const entries = listOf(item[list])
  const place = boundedPlace(entries, index)
  const entry: JsonRecord = entries[place] === undefined ? { ...fresh } : recordOf(entries[place])
  entries[place] = entry
  setOwn(item, list, entries)
  return entry
}

function setEntry(item: JsonRecord, list: string, index: number, entry: JsonRecord): void {
  const entries = listOf(item[list])
  entries[boundedPlace(entries, index)] = structuredClone(entry)
  setOwn(item, list, entries)
}

// A stream may name any index; a list only ever grows by one.
const boundedPlace = (list: readonly JsonValue[], index: number): number => Math.min(index, list.length)
