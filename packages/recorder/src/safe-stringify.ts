/**
 * JSON for whatever a caller passes. Cycles, getters that throw, bigints, proxies, arrays with a billion holes and nesting a million deep
 * all become text with a marker where something could not be kept; nothing throws, and the work is bounded.
 */
export function safeStringify(value: unknown): string {
  if (isSafeToStringify(value)) {
    try {
      const text = JSON.stringify(value)
      if (text !== undefined) return text
    } catch {
      // A bigint, a cycle, a getter or a toJSON that throws: the careful way below copes with all of them.
    }
  }
  try {
    return JSON.stringify(safeValue(value, 0, { nodes: MAX_NODES, open: new Set() })) ?? "null"
  } catch {
    return JSON.stringify("[unreadable]")
  }
}

const MAX_DEPTH = 96
const MAX_NODES = 200_000
const MAX_ARRAY = 100_000

/**
 * Whether JSON.stringify can be trusted with it: shallow enough for its recursion and with no array that is mostly length.
 * Much cheaper than writing JSON ourselves: a request of 50 KB has a few hundred nodes.
 */
export function isSafeToStringify(value: unknown): boolean {
  let nodes = 0
  const visit = (item: unknown, depth: number): boolean => {
    if (typeof item !== "object" || item === null) return true
    if (depth > MAX_DEPTH || ++nodes > MAX_NODES) return false
    if (Array.isArray(item)) {
      if (item.length > MAX_ARRAY) return false
      for (const entry of item) if (!visit(entry, depth + 1)) return false
      return true
    }
    if (ArrayBuffer.isView(item)) return false
    for (const key of Object.keys(item)) if (!visit((item as Record<string, unknown>)[key], depth + 1)) return false
    return true
  }
  try {
    return visit(value, 0)
  } catch {
    return false
  }
}

interface Limits {
  nodes: number
  readonly open: Set<object>
}

function safeValue(value: unknown, depth: number, limits: Limits): unknown {
  if (typeof value === "object") return value === null ? null : safeContainer(value, depth, limits)
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return value
    case "number":
      return Number.isFinite(value) ? value : String(value)
    case "bigint":
      return `${value}n`
    case "symbol":
      return String(value)
    case "function":
      return "[function]"
  }
}

function safeContainer(value: object, depth: number, limits: Limits): unknown {
  if (limits.open.has(value)) return "[circular]"
  if (depth > MAX_DEPTH) return "[deeper values left out]"
  if (--limits.nodes < 0) return "[more values left out]"
  limits.open.add(value)
  try {
    return safeObject(value, depth, limits)
  } catch {
    return "[unreadable]"
  } finally {
    limits.open.delete(value)
  }
}

function safeObject(value: object, depth: number, limits: Limits): unknown {
  if (Array.isArray(value)) return safeArray(value, depth, limits)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString()
  if (value instanceof Error) return { name: value.name, message: value.message, stack: value.stack }
  if (value instanceof Map) return safeArray([...limited(value.entries())], depth, limits)
  if (value instanceof Set) return safeArray([...limited(value.values())], depth, limits)
  if (value instanceof RegExp || value instanceof URL) return String(value)
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`

  const toJson = readProperty(value, "toJSON")
  if (typeof toJson === "function") {
    const plain: unknown = toJson.call(value, "")
    if (plain !== value) return safeValue(plain, depth + 1, limits)
  }
  const copy: Record<string, unknown> = Object.create(null)
  for (const key of Object.keys(value)) {
    if (limits.nodes < 0) {
      copy["…"] = "[more values left out]"
      break
    }
    const item = readProperty(value, key)
    if (item !== undefined && typeof item !== "function") copy[key] = safeValue(item, depth + 1, limits)
  }
  return copy
}

function safeArray(value: readonly unknown[], depth: number, limits: Limits): unknown[] {
  const kept: unknown[] = []
  const length = Math.min(value.length, MAX_ARRAY)
  for (let i = 0; i < length && limits.nodes >= 0; i++)
    kept.push(safeValue(readProperty(value, i) ?? null, depth + 1, limits))
  if (kept.length < value.length) kept.push(`[${value.length - kept.length} more left out]`)
  return kept
}

function readProperty(value: object, key: string | number): unknown {
  try {
    return (value as Record<string | number, unknown>)[key]
  } catch {
    return "[unreadable]"
  }
}

function* limited<T>(items: Iterable<T>): Generator<T> {
  let left = MAX_ARRAY
  for (const item of items) {
    if (left-- === 0) return
    yield item
  }
}
