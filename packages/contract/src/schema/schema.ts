import { OrangeboxError } from "../error.js"
import { isPlainObject } from "./quick-check.js"
import type { ObjectNode, SchemaNode } from "./schema-node.js"

/** One thing that is wrong with a value: where, and in words. `keys` are members that there is no field for. */
export type SchemaIssue = { readonly path: Path; readonly message: string } & (
  | { readonly code: "invalid" }
  | { readonly code: "unrecognized_keys"; readonly keys: readonly string[] }
)

type Path = readonly (string | number)[]

export type SchemaReading<T> =
  | { readonly success: true; readonly data: T; readonly error?: undefined }
  | { readonly success: false; readonly data?: undefined; readonly error: { readonly issues: readonly SchemaIssue[] } }

export type JsonValue = string | number | boolean | null | JsonValue[] | { [name: string]: JsonValue }

/** What a value must look like. `Config.safeParse(value)` gives the value as a `Config`, or what is wrong with it. */
export class Schema<T> {
  readonly node: SchemaNode

  constructor(node: SchemaNode) {
    this.node = node
  }

  safeParse(value: unknown): SchemaReading<T> {
    const issues: Issue[] = []
    const data = readValue(this.node, value, [], issues)
    return issues.length === 0 ? { success: true, data: data as T } : { success: false, error: { issues } }
  }

  /** For values that are known to fit; throws for one that does not. */
  parse(value: unknown): T {
    const reading = this.safeParse(value)
    if (reading.success) return reading.data
    const all = reading.error.issues.map(
      ({ path, message }) => `${path.length === 0 ? "" : `${path.join(".")}: `}${message}`,
    )
    throw new OrangeboxError("SCHEMA", { what: all.join("; ") })
  }
}

/** One of a few words. */
export class WordSchema<T extends string> extends Schema<T> {
  get options(): readonly T[] {
    return this.node.is === "one_of" ? (this.node.values as readonly T[]) : []
  }
}

export class ObjectSchema<T> extends Schema<T> {
  get fields(): ObjectNode["fields"] {
    return this.node.is === "object" ? this.node.fields : {}
  }

  /** The schema of each field. */
  get shape(): { readonly [Name in keyof T]-?: Schema<T[Name]> } {
    const fields = Object.entries(this.fields).map(([name, node]) => [name, new Schema(node)])
    return Object.fromEntries(fields) as { readonly [Name in keyof T]-?: Schema<T[Name]> }
  }
}

/** `isMild`: the value has the right type and breaks a limit. Of a union's options, one that fails only so is the one that was meant. */
type Issue = SchemaIssue & { readonly isMild?: boolean }

/** The value with its defaults and without members that are dropped; what is wrong is added to `issues`, in zod's words. */
function readValue(node: SchemaNode, value: unknown, path: Path, issues: Issue[]): unknown {
  if (value === undefined && (node.optional === true || node.default !== undefined)) return node.default
  if (value === null && node.nullable === true) return null
  const wrong = (message: string, isMild = false): void => void issues.push({ code: "invalid", path, message, isMild })
  const wrongType = (expected: string): void => wrong(`Invalid input: expected ${expected}, received ${kindOf(value)}`)

  switch (node.is) {
    case "any":
      return value
    case "string":
      if (typeof value !== "string") wrongType("string")
      else readString(node, value, wrong)
      return value
    case "http_url":
      if (typeof value !== "string") wrongType("string")
      else if (!isHttpUrl(value)) wrong("Invalid URL", true)
      else return asParsed(value)
      return value
    case "number":
      if (typeof value !== "number" || !Number.isFinite(value)) wrongType("number")
      else readNumber(node, value, wrong)
      return value
    case "boolean":
      if (typeof value !== "boolean") wrongType("boolean")
      return value
    case "one_of":
      if (!node.values.includes(value as string)) wrong(node.says ?? noneOf(node.values))
      return value
    case "json":
      if (!isJson(value)) wrong("Invalid input")
      return value
    case "list": {
      if (!Array.isArray(value)) return wrongType("array")
      // Also the holes of a list are read, as undefined.
      const items = Array.from(value, (item, i) => readValue(node.of, item, [...path, i], issues))
      if (value.length < (node.min ?? 0)) wrong(`Too small: expected array to have >=${node.min} items`, true)
      if (value.length > (node.max ?? Number.POSITIVE_INFINITY))
        wrong(`Too big: expected array to have <=${node.max} items`, true)
      return items
    }
    case "record": {
      if (!isPlainObject(value)) return wrongType("record")
      const entries = Object.keys(value).filter((name) => name !== "__proto__")
      return Object.fromEntries(
        entries.map((name) => {
          const found: Issue[] = []
          readValue(node.keys, name, [], found)
          if (found.length > 0)
            issues.push({ code: "invalid", path: [...path, name], message: "Invalid key in record" })
          else return [name, readValue(node.of, value[name], [...path, name], issues)]
          return [name, undefined]
        }),
      )
    }
    case "object":
      if (typeof value !== "object" || value === null || Array.isArray(value)) return wrongType("object")
      return readObject(node, value as Record<string, unknown>, path, issues)
    case "union":
      return readUnion(node, value, path, issues)
  }
}

function readString(
  { min, max, pattern, says }: SchemaNode & { is: "string" },
  value: string,
  wrong: (message: string, isMild: boolean) => void,
): void {
  if (min !== undefined && min === max && value.length !== min) {
    // One length is part of a form, such as that of an id, and the form has one name for being wrong.
    wrong(
      says ?? `Too ${value.length < min ? "small" : "big"}: expected string to have exactly ${min} characters`,
      true,
    )
    return
  }
  if (min !== undefined && value.length < min) wrong(`Too small: expected string to have >=${min} characters`, true)
  if (max !== undefined && value.length > max) wrong(`Too big: expected string to have <=${max} characters`, true)
  if (pattern?.test(value) === false) wrong(says ?? `Invalid string: must match pattern ${pattern}`, true)
}

function readNumber(
  { int, min, over, max }: SchemaNode & { is: "number" },
  value: number,
  wrong: (message: string, isMild?: boolean) => void,
): void {
  if (int && !Number.isInteger(value)) {
    wrong("Invalid input: expected int, received number")
    return
  }
  if (int && !Number.isSafeInteger(value)) {
    if (value > 0) wrong(`Too big: expected int to be <=${Number.MAX_SAFE_INTEGER}`, true)
    else wrong(`Too small: expected int to be >=${Number.MIN_SAFE_INTEGER}`, true)
  }
  if (min !== undefined && value < min) wrong(`Too small: expected number to be >=${min}`, true)
  if (over !== undefined && value <= over) wrong(`Too small: expected number to be >${over}`, true)
  if (max !== undefined && value > max) wrong(`Too big: expected number to be <=${max}`, true)
}

function readObject(node: ObjectNode, value: Record<string, unknown>, path: Path, issues: Issue[]): unknown {
  const data: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(node.fields)) {
    const member = readValue(field, value[name], [...path, name], issues)
    if (member !== undefined || name in value) data[name] = member
  }
  const others: string[] = []
  for (const name in value) if (!Object.hasOwn(node.fields, name)) others.push(name)
  if (node.others === "kept") {
    for (const name of others) if (name !== "__proto__") data[name] = value[name]
  } else if (node.others === undefined && others.length > 0) {
    const message = `Unrecognized key${others.length > 1 ? "s" : ""}: ${others.map((name) => `"${name}"`).join(", ")}`
    issues.push({ code: "unrecognized_keys", keys: others, path, message, isMild: true })
  }
  return data
}

function readUnion(node: SchemaNode & { is: "union" }, value: unknown, path: Path, issues: Issue[]): unknown {
  const { by } = node
  if (by !== undefined) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      issues.push({ code: "invalid", path, message: `Invalid input: expected object, received ${kindOf(value)}` })
      return undefined
    }
    const said = (value as Record<string, unknown>)[by]
    const meant = node.of.find((option) => wordsOf(option, by).includes(said))
    if (meant !== undefined) return readValue(meant, value, path, issues)
    const words = node.of.flatMap((option) => wordsOf(option, by))
    const message = `Invalid discriminator value. Expected ${words.map((word) => `'${word}'`).join(" | ")}`
    issues.push({ code: "invalid", path: [...path, by], message })
    return undefined
  }
  const tries = node.of.map((option) => {
    const found: Issue[] = []
    return { data: readValue(option, value, path, found), found }
  })
  const fits = tries.find(({ found }) => found.length === 0)
  if (fits !== undefined) return fits.data
  const meant = tries.filter(({ found }) => found.every(({ isMild }) => isMild))
  if (meant.length === 1 && node.says === undefined) issues.push(...meant[0]!.found)
  else issues.push({ code: "invalid", path, message: node.says ?? "Invalid input" })
  return undefined
}

const wordsOf = (option: SchemaNode, by: string): readonly unknown[] => {
  const field = option.is === "object" ? option.fields[by] : undefined
  return field?.is === "one_of" ? field.values : []
}

const noneOf = (values: readonly unknown[]): string =>
  values.length === 1
    ? `Invalid input: expected ${JSON.stringify(values[0])}`
    : `Invalid option: expected one of ${values.map((value) => JSON.stringify(value)).join("|")}`

function kindOf(value: unknown): string {
  if (typeof value === "number" && !Number.isFinite(value)) return String(value)
  if (value === null) return "null"
  if (Array.isArray(value)) return "array"
  if (typeof value !== "object") return typeof value
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype !== Object.prototype && prototype !== null ? (value.constructor?.name ?? "object") : "object"
}

/** The URL parser also takes `http:x` and `http:/x`, which are mistakes. */
const isHttpUrl = (text: string): boolean => /^https?:\/\//i.test(text.trim()) && URL.canParse(text.trim())

/** The URL parser passes over blanks around the text and over line breaks in it: what is kept must say the same. */
const asParsed = (text: string): string => text.trim().replace(/[\t\n\r]/g, "")

function isJson(value: unknown): boolean {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true
  if (typeof value === "number") return Number.isFinite(value)
  if (Array.isArray(value)) return value.every(isJson)
  return isPlainObject(value) && Object.values(value).every(isJson)
}
