import { OrangeboxError } from "../error.js"
import { canonicalNumber } from "./number.js"
import { type JsonArray, type JsonMember, type JsonNode, type JsonObject, type JsonString, readJson } from "./tree.js"

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

/** What is known about a tree whose canonical text is asked for. */
export interface CanonicalHints {
  /** The canonical text of values inside, where the caller has it already. */
  readonly known?: ReadonlyMap<JsonNode, string>
  /** The text the tree was read from. Nodes that are not from there have an empty span. */
  readonly text?: string
}

export function canonicalJsonNode(node: JsonNode, hints: CanonicalHints = {}): string {
  return write(node, hints, 0)
}

// What people send is shallow, and plain recursion writes it several times faster than a walk with a stack of its own.
const DEEPEST_RECURSION = 64

function write(node: JsonNode, hints: CanonicalHints, depth: number): string {
  const text = hints.known?.get(node)
  if (text !== undefined) return text
  if (depth === DEEPEST_RECURSION) {
    return emit(node, (value) => hints.known?.get(value) ?? expandNode(value))
  }
  switch (node.kind) {
    case "array": {
      let list = "["
      for (const item of node.items) list += (list.length > 1 ? "," : "") + write(item, hints, depth + 1)
      return `${list}]`
    }
    case "object": {
      let object = "{"
      for (const { key, value } of inKeyOrder(node.members)) {
        object += `${object.length > 1 ? "," : ""}${quoted(key)}:${write(value, hints, depth + 1)}`
      }
      return `${object}}`
    }
    case "string":
      return (hints.text === undefined ? undefined : canonicalLiteral(node, hints.text)) ?? quoted(node.value)
    default:
      return spellScalar(node)
  }
}

// Most clients write strings as `JSON.stringify` does, and finding that out costs a sixth of writing them again. Escapes that it would not
// make are \\/ and all but some \\u; where a backslash of a pair stands before one of these letters, the string is only written anew.
const OTHER_ESCAPES = /\\(?:\/|u(?!00(?:0[0-7bef]|1[0-9a-f])))/

function canonicalLiteral(node: JsonString, text: string): string | undefined {
  if (node.end - node.start < node.value.length + 2) return undefined
  const literal = text.slice(node.start, node.end)
  return OTHER_ESCAPES.test(literal) || !literal.isWellFormed() ? undefined : literal
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
    if (keys) out.push(quoted(keys[index]!), ":")
    visit(values[index]!)
  }
  return out.join("")
}

function expandNode(node: JsonNode): Expansion<JsonNode> {
  switch (node.kind) {
    case "array":
      return { keys: undefined, values: node.items }
    case "object": {
      const members = inKeyOrder(node.members)
      return { keys: members.map((member) => member.key), values: members.map((member) => member.value) }
    }
    default:
      return spellScalar(node)
  }
}

function spellScalar(node: Exclude<JsonNode, JsonArray | JsonObject>): string {
  switch (node.kind) {
    case "string":
      return quoted(node.value)
    case "number":
      return canonicalNumber(node.lexeme)
    case "literal":
      return String(node.value)
  }
}

// Duplicate keys stay, in the order they were written: dropping one would make different requests equal.
function inKeyOrder(members: readonly JsonMember[]): readonly JsonMember[] {
  for (let i = 1; i < members.length; i++) {
    if (members[i - 1]!.key > members[i]!.key) return members.length > FEW ? sorted(members) : sortedFew(members)
  }
  return members
}

const sorted = (members: readonly JsonMember[]): readonly JsonMember[] =>
  [...members].sort((a, b) => byCodeUnit(a.key, b.key))

const FEW = 12

// By insertion: there are hundreds of objects of three or four members in a request, and sorting by a callback is most of writing them.
function sortedFew(members: readonly JsonMember[]): readonly JsonMember[] {
  const inOrder = members.slice()
  for (let i = 1; i < inOrder.length; i++) {
    const member = inOrder[i]!
    let at = i
    while (at > 0 && inOrder[at - 1]!.key > member.key) {
      inOrder[at] = inOrder[at - 1]!
      at--
    }
    inOrder[at] = member
  }
  return inOrder
}

const NEEDS_ESCAPES = /[\u0000-\u001f"\\\ud800-\udfff]/

// Looking for a character to escape takes a fifth of the time that escaping does, and most strings have none.
function quoted(text: string): string {
  return NEEDS_ESCAPES.test(text) ? JSON.stringify(text) : `"${text}"`
}

function expandValue(value: unknown): Expansion<unknown> {
  const plain = plainOf(value)
  switch (typeof plain) {
    case "string":
      return quoted(plain)
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
