import { indexOf, isRecord, type JsonRecord, type JsonValue, listOf, setOwn } from "../json/value.js"

// These arrive whole. Some servers repeat them in every chunk, and "assistantassistant" is not a role.
const WHOLE = new Set(["role", "id", "type", "name", "index", "format", "call_id"])

/**
 * Adds a chunk's delta to what is there: text grows, objects merge, list entries that carry an `index` find their place and the others
 * are appended. The rule is general because this dialect is spoken by many servers that add fields of their own (`reasoning_content`,
 * `reasoning_details`, `annotations`, `audio` …), and what they add is part of the answer.
 */
export function mergeDelta(target: JsonRecord, delta: JsonRecord): void {
  for (const key of Object.keys(delta)) {
    const next = delta[key]!
    if (next === null && key in target) continue
    setOwn(target, key, merged(key, Object.hasOwn(target, key) ? target[key] : undefined, next))
  }
}

function merged(key: string, before: JsonValue | undefined, next: JsonValue): JsonValue {
  if (typeof next === "string") {
    if (typeof before !== "string" || before === "") return next
    return WHOLE.has(key) ? (next === "" ? before : next) : before + next
  }
  if (Array.isArray(next)) return mergeList(listOf(before), next)
  if (isRecord(next)) {
    const record: JsonRecord = isRecord(before) ? before : {}
    mergeDelta(record, next)
    return record
  }
  return next
}

function mergeList(before: JsonValue[], next: readonly JsonValue[]): JsonValue[] {
  for (const item of next) {
    const place = isRecord(item) && "index" in item ? indexOf(item["index"]) : undefined
    const sameType = (entry: JsonValue): boolean =>
      isRecord(entry) &&
      isRecord(item) &&
      entry["index"] === place &&
      (entry["type"] ?? item["type"]) === (item["type"] ?? entry["type"])
    const existing = place === undefined ? undefined : before.findLast(sameType)
    if (isRecord(existing) && isRecord(item)) mergeDelta(existing, item)
    else if (isRecord(item)) {
      const copy: JsonRecord = {}
      mergeDelta(copy, item)
      before.push(copy)
    } else before.push(item)
  }
  return before
}
