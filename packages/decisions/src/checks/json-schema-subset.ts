import { canonicalJson } from "@orangebox/contract"
import { escapePointer } from "@orangebox/text"

// The part of JSON Schema that output.json understands. A keyword outside it is refused when the rule is read: a schema that is half
// understood would pass what it should not. (zod's reader of JSON Schema passes `{"required":["a"]}` over `{}`, so it is not used here.)

const TYPES = new Set(["object", "array", "string", "number", "integer", "boolean", "null"])
const ANNOTATIONS = new Set(["$schema", "$id", "title", "description", "default", "examples", "$comment", "deprecated"])
const NUMBERS = new Set(
  "minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems minProperties maxProperties".split(
    " ",
  ),
)
const MAX_SCHEMA_DEPTH = 32
const MAX_PROBLEMS = 8

export function readJsonSchema(value: unknown): { schema: object } | { reason: string } {
  const reason = schemaProblem(value, "", 0)
  if (reason !== undefined) return { reason }
  return { schema: value === true || value === false ? { anyOf: value ? [{}] : [] } : (value as object) }
}

type SchemaObject = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is SchemaObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

function schemaProblem(value: unknown, at: string, depth: number): string | undefined {
  if (value === true || value === false) return undefined
  if (!isObject(value)) return `${at || "it"} is not a schema`
  if (depth > MAX_SCHEMA_DEPTH) return `${at} is nested too deeply`
  for (const [keyword, setting] of Object.entries(value)) {
    const place = `${at}/${keyword}`
    const wrong = keywordProblem(keyword, setting, place, depth)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

function keywordProblem(keyword: string, setting: unknown, place: string, depth: number): string | undefined {
  if (ANNOTATIONS.has(keyword) || keyword === "const") return undefined
  if (NUMBERS.has(keyword)) return typeof setting === "number" ? undefined : `${place} is not a number`
  switch (keyword) {
    case "type":
      return (Array.isArray(setting) ? setting : [setting]).every((type) => TYPES.has(type))
        ? undefined
        : `${place} names no type`
    case "enum":
      return Array.isArray(setting) ? undefined : `${place} is not a list`
    case "required":
      return Array.isArray(setting) && setting.every((name) => typeof name === "string")
        ? undefined
        : `${place} is not a list of names`
    case "uniqueItems":
      return typeof setting === "boolean" ? undefined : `${place} is not true or false`
    case "properties":
      if (!isObject(setting)) return `${place} is not an object`
      return first(Object.entries(setting), ([name, schema]) => schemaProblem(schema, `${place}/${name}`, depth + 1))
    case "additionalProperties":
    case "items":
    case "not":
      return schemaProblem(setting, place, depth + 1)
    case "anyOf":
    case "oneOf":
    case "allOf":
      if (!Array.isArray(setting)) return `${place} is not a list`
      return first([...setting.entries()], ([index, schema]) => schemaProblem(schema, `${place}/${index}`, depth + 1))
    default:
      return `${place} is not among the keywords that are understood`
  }
}

function first<T>(values: readonly T[], find: (value: T) => string | undefined): string | undefined {
  for (const value of values) {
    const found = find(value)
    if (found !== undefined) return found
  }
  return undefined
}

export interface SchemaProblem {
  /** JSON pointer into the value. */
  readonly pointer: string
  readonly reason: string
}

/** What keeps a value from fitting a schema that was read before; empty when it fits. */
export function schemaProblems(schema: unknown, value: unknown, pointer = ""): readonly SchemaProblem[] {
  if (schema === true) return []
  if (schema === false || !isObject(schema)) return [{ pointer, reason: "must not be there" }]
  const problems: SchemaProblem[] = []
  const wrong = (reason: string): void => {
    problems.push({ pointer, reason })
  }
  const list = (keyword: string): readonly unknown[] | undefined => {
    const setting = schema[keyword]
    return Array.isArray(setting) ? setting : undefined
  }
  const limit = (keyword: string): number | undefined => {
    const setting = schema[keyword]
    return typeof setting === "number" ? setting : undefined
  }
  const types = list("type") ?? (schema["type"] === undefined ? undefined : [schema["type"]])
  if (types !== undefined && !types.some((type) => isOfType(value, type))) wrong(`is not ${types.join(" or ")}`)
  const choices = list("enum")
  if (choices !== undefined && !choices.some((choice) => isSame(choice, value))) wrong("is none of the values allowed")
  if ("const" in schema && !isSame(schema["const"], value)) wrong("is not the value demanded")
  if (typeof value === "number") boundProblems(value, limit, wrong)
  if (typeof value === "string") countProblems(Array.from(value).length, "Length", "characters", limit, wrong)
  if (Array.isArray(value)) {
    countProblems(value.length, "Items", "items", limit, wrong)
    if (schema["uniqueItems"] === true && new Set(value.map(canonicalJson)).size < value.length)
      wrong("holds an item twice")
    if (schema["items"] !== undefined) {
      for (const [index, item] of value.entries()) {
        if (problems.length >= MAX_PROBLEMS) break
        problems.push(...schemaProblems(schema["items"], item, `${pointer}/${index}`))
      }
    }
  } else if (isObject(value)) {
    const names = Object.keys(value)
    countProblems(names.length, "Properties", "properties", limit, wrong)
    for (const name of list("required") ?? []) {
      if (!Object.hasOwn(value, name as string)) wrong(`has no ${JSON.stringify(name)}`)
    }
    const properties = isObject(schema["properties"]) ? schema["properties"] : {}
    for (const name of names) {
      if (problems.length >= MAX_PROBLEMS) break
      const at = `${pointer}/${escapePointer(name)}`
      if (Object.hasOwn(properties, name)) problems.push(...schemaProblems(properties[name], value[name], at))
      else if (schema["additionalProperties"] !== undefined) {
        problems.push(...schemaProblems(schema["additionalProperties"], value[name], at))
      }
    }
  }
  const fits = (other: unknown): boolean => schemaProblems(other, value, pointer).length === 0
  if (list("anyOf")?.some(fits) === false) wrong("fits none of the schemas allowed")
  const oneOf = list("oneOf")
  if (oneOf !== undefined && oneOf.filter(fits).length !== 1) wrong("does not fit exactly one of the schemas")
  for (const other of list("allOf") ?? []) problems.push(...schemaProblems(other, value, pointer))
  if (schema["not"] !== undefined && fits(schema["not"])) wrong("fits a schema it must not")
  return problems.slice(0, MAX_PROBLEMS)
}

type Limit = (keyword: string) => number | undefined

function boundProblems(value: number, limit: Limit, wrong: (reason: string) => void): void {
  const minimum = limit("minimum")
  const maximum = limit("maximum")
  const above = limit("exclusiveMinimum")
  const below = limit("exclusiveMaximum")
  if (minimum !== undefined && value < minimum) wrong(`is less than ${minimum}`)
  if (maximum !== undefined && value > maximum) wrong(`is more than ${maximum}`)
  if (above !== undefined && value <= above) wrong(`is not more than ${above}`)
  if (below !== undefined && value >= below) wrong(`is not less than ${below}`)
}

function countProblems(
  count: number,
  what: string,
  words: string,
  limit: Limit,
  wrong: (reason: string) => void,
): void {
  const least = limit(`min${what}`)
  const most = limit(`max${what}`)
  if (least !== undefined && count < least) wrong(`has fewer than ${least} ${words}`)
  if (most !== undefined && count > most) wrong(`has more than ${most} ${words}`)
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case "null":
      return value === null
    case "array":
      return Array.isArray(value)
    case "object":
      return isObject(value)
    case "integer":
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

const isSame = (one: unknown, other: unknown): boolean => one === other || canonicalJson(one) === canonicalJson(other)
