import { OrangeboxError } from "../error.js"
import { canonicalNumber } from "./number.js"
import { type JsonNode, readJson } from "./tree.js"

/**
 * One text per value: keys sorted by UTF-16 code unit, no space between tokens, numbers spelled by `canonicalNumber`, strings escaped as
 * `JSON.stringify` does (so lone surrogates survive as escapes). Properties whose value is undefined or a function are left out, as in JSON.
 */
export function canonicalJson(value: unknown): string {
  return emit(value, expandValue)
}

/** The same form for JSON text, without losing digits or duplicate keys on the way. */
export function canonicalJsonText(text: string): string {
  const reading = readJson(text)
  if (!reading.ok) {
    throw new OrangeboxError("JSON_SYNTAX", { what: `not JSON: ${reading.reason}`, where: `character ${reading.at}` })
  }
  return canonicalJsonNode(reading.node)
}

export function canonicalJsonNode(node: JsonNode): string {
  return emit(node, expandNode)
}

/** A container taken apart one level, or the finished text of a scalar. */
type Expansion<T> = string | Container<T>
interface Container<T> {
  /** Undefined for a list. */
  readonly keys: readonly string[] | undefined
  readonly values: readonly T[]
  /** What a cycle would come back to. */
  readonly identity?: object
}

// The walk keeps its own stack: a body nested a million deep must not end the process that hashes it.
function emit<T>(root: T, expand: (value: T) => Expansion<T>): string {
  const out: string[] = []
  const stack: { expansion: Container<T>; next: number }[] = []
  const open = new Set<object>()

  const visit = (value: T): void => {
    const expansion = expand(value)
    if (typeof expansion === "string") {
      out.push(expansion)
      return
    }
    if (expansion.identity !== undefined) {
      if (open.has(expansion.identity)) {
        throw new OrangeboxError("CANONICAL_CYCLE", {
          what: "a value that contains itself has no canonical JSON",
          next: "Remove the cycle before hashing",
        })
      }
      open.add(expansion.identity)
    }
    out.push(expansion.keys ? "{" : "[")
    stack.push({ expansion, next: 0 })
  }

  visit(root)
  while (stack.length > 0) {
    const frame = stack.at(-1)!
    const { keys, values, identity } = frame.expansion
    if (frame.next === values.length) {
      out.push(keys ? "}" : "]")
      if (identity) open.delete(identity)
      stack.pop()
      continue
    }
    const index = frame.next++
    if (index > 0) out.push(",")
    if (keys) out.push(JSON.stringify(keys[index]), ":")
    visit(values[index]!)
  }
  return out.join("")
}

function expandNode(node: JsonNode): Expansion<JsonNode> {
  switch (node.kind) {
    case "string":
      return JSON.stringify(node.value)
    case "number":
      return canonicalNumber(node.lexeme)
    case "literal":
      return String(node.value)
    case "array":
      return { keys: undefined, values: node.items }
    case "object": {
      // Duplicate keys stay, in the order they were written: dropping one would make different requests equal.
      const members = [...node.members].sort((a, b) => byCodeUnit(a.key, b.key))
      return { keys: members.map((member) => member.key), values: members.map((member) => member.value) }
    }
  }
}

function expandValue(value: unknown): Expansion<unknown> {
  const plain = plainOf(value)
  switch (typeof plain) {
    case "string":
      return JSON.stringify(plain)
    case "boolean":
      return String(plain)
    case "bigint":
      return plain.toString()
    case "number":
      if (!Number.isFinite(plain)) throw notJson(String(plain))
      return spellNumber(plain)
    case "object":
      return plain === null ? "null" : expandPlain(plain)
    default:
      throw notJson(`a ${typeof plain}`)
  }
}

/** What JSON takes a value for: the answer of its `toJSON`, asked once, or the primitive inside a wrapper object. */
function plainOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value
  const { toJSON } = value as { toJSON?: unknown }
  const plain: unknown = typeof toJSON === "function" ? toJSON.call(value, "") : value
  return plain instanceof Number || plain instanceof String || plain instanceof Boolean ? plain.valueOf() : plain
}

function expandPlain(value: object): Expansion<unknown> {
  if (Array.isArray(value)) {
    return { keys: undefined, values: Array.from(value, (item) => (isOmitted(item) ? null : item)), identity: value }
  }
  // Each member is read once: a getter may answer differently the second time.
  const keys: string[] = []
  const values: unknown[] = []
  for (const key of Object.keys(value).sort(byCodeUnit)) {
    const member = (value as Record<string, unknown>)[key]
    if (isOmitted(member)) continue
    keys.push(key)
    values.push(member)
  }
  return { keys, values, identity: value }
}

// JavaScript's own spelling is the canonical one, but for the large numbers it writes with e+.
function spellNumber(value: number): string {
  const text = String(value)
  return text.includes("e+") ? canonicalNumber(text) : text
}

const isOmitted = (value: unknown): boolean =>
  value === undefined || typeof value === "function" || typeof value === "symbol"

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const notJson = (what: string): OrangeboxError =>
  new OrangeboxError("CANONICAL_NOT_JSON", { what: `${what} has no JSON form`, next: "Convert it before hashing" })
