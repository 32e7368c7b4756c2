import type { ObjectNode, SchemaNode } from "./schema-node.js"

/** True only for values that the schema accepts. False means "read it", which also says what is wrong. */
export type QuickCheck = (value: unknown) => boolean

/**
 * A yes-or-no check made of a schema, because the recorder checks every payload at the call.
 *
 * Reading a value rebuilds it and visits every field the schema knows; a recorded payload carries few of them. This visits only the fields
 * that are there, builds nothing, and keeps a field to one call. A property test holds it against the zod definitions.
 */
export function quickCheck(node: SchemaNode): QuickCheck {
  const check = valueCheck(node)
  if (node.nullable !== true && !acceptsUndefined(node)) return check
  return (value) =>
    (value === null && node.nullable === true) || (value === undefined && acceptsUndefined(node)) || check(value)
}

const acceptsUndefined = (node: SchemaNode): boolean => node.optional === true || node.default !== undefined

function valueCheck(node: SchemaNode): QuickCheck {
  switch (node.is) {
    case "string":
      return stringCheck(node.min ?? 0, node.max ?? Number.POSITIVE_INFINITY, node.pattern)
    case "number": {
      const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY, over = Number.NEGATIVE_INFINITY } = node
      const isKind = node.int ? Number.isSafeInteger : Number.isFinite
      return (value) =>
        isKind(value) && (value as number) >= min && (value as number) <= max && (value as number) > over
    }
    case "boolean":
      return (value) => typeof value === "boolean"
    case "one_of":
      return isOneOf(node.values)
    case "union": {
      const options = node.of.map(quickCheck)
      return (value) => options.some((check) => check(value))
    }
    case "list":
      return listCheck(quickCheck(node.of), node.min ?? 0, node.max ?? Number.POSITIVE_INFINITY)
    case "record":
      return recordCheck(quickCheck(node.keys), quickCheck(node.of))
    case "object":
      return objectCheck(node)
    case "any":
      return () => true
    // Rare, and never in an event: left to the reading.
    case "http_url":
    case "json":
      return () => false
  }
}

function stringCheck(min: number, max: number, pattern: RegExp | undefined): QuickCheck {
  if (pattern === undefined) return (value) => typeof value === "string" && value.length >= min && value.length <= max
  return (value) => typeof value === "string" && value.length >= min && value.length <= max && pattern.test(value)
}

function isOneOf(values: readonly unknown[]): QuickCheck {
  const [only] = values
  if (values.length === 1) return (value) => value === only
  const allowed = new Set(values)
  return (value) => allowed.has(value)
}

function listCheck(check: QuickCheck, min: number, max: number): QuickCheck {
  return (value) => {
    if (!Array.isArray(value) || value.length < min || value.length > max) return false
    for (let i = 0; i < value.length; i++) if (!check(value[i])) return false
    return true
  }
}

function recordCheck(key: QuickCheck, check: QuickCheck): QuickCheck {
  return (value) => {
    if (!isPlainObject(value)) return false
    for (const name in value) if (!key(name) || !check(value[name])) return false
    return true
  }
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function objectCheck(node: ObjectNode): QuickCheck {
  const isLoose = node.others !== undefined
  const fields = new Map(
    Object.entries(node.fields).map(([name, field]) => [
      name,
      { check: valueCheck(field), acceptsNull: field.nullable === true, acceptsUndefined: acceptsUndefined(field) },
    ]),
  )
  const requiredCount = [...fields.values()].filter((field) => !field.acceptsUndefined).length

  return (value) => {
    if (!isPlainObject(value)) return false
    let missing = requiredCount
    for (const name in value) {
      const field = fields.get(name)
      if (field === undefined) {
        if (isLoose) continue
        return false
      }
      const member = value[name]
      if (!field.acceptsUndefined) missing--
      if (member === null && field.acceptsNull) continue
      if (member === undefined && field.acceptsUndefined) continue
      if (!field.check(member)) return false
    }
    return missing === 0
  }
}
