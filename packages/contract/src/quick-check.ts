import type { z } from "zod"

/** True only for values that the schema accepts. False means "ask zod", which also says what is wrong. */
export type QuickCheck = (value: unknown) => boolean

/**
 * A yes-or-no check read off a zod schema, because the recorder checks every payload at the call.
 *
 * `safeParse` rebuilds the value it accepts and visits every field the schema knows; a recorded payload carries few of them. This visits
 * only the fields that are there and builds nothing. Nanoseconds on Node 20.20, one core, zod 4.6.7: log 205 → 60, tool_called 808 → 280,
 * model_result 3983 → 560. The schema stays the only definition: a kind of schema not known here falls back to zod itself, and a property
 * test holds the two against each other.
 */
export function quickCheck(schema: z.ZodType): QuickCheck {
  const askZod: QuickCheck = (value) => schema.safeParse(value).success
  const { def } = (schema as unknown as z.core.$ZodTypes)._zod
  if (def.type !== "string" && def.type !== "number" && (def.checks?.length ?? 0) > 0) return askZod
  switch (def.type) {
    case "string":
      return scalarCheck(isString, def.checks) ?? askZod
    case "number":
      return ("check" in def ? undefined : scalarCheck(isFiniteNumber, def.checks)) ?? askZod
    case "boolean":
      return (value) => typeof value === "boolean"
    case "null":
      return (value) => value === null
    case "literal":
      return isOneOf(def.values)
    case "enum":
      return isOneOf(Object.values(def.entries))
    case "optional": {
      const check = quickCheck(def.innerType as z.ZodType)
      return (value) => value === undefined || check(value)
    }
    case "nullable": {
      const check = quickCheck(def.innerType as z.ZodType)
      return (value) => value === null || check(value)
    }
    case "union":
      return anyOf(def.options.map((option) => quickCheck(option as z.ZodType)))
    case "array": {
      const check = quickCheck(def.element as z.ZodType)
      return (value) => Array.isArray(value) && everyItem(value, check)
    }
    case "record": {
      const key = quickCheck(def.keyType as z.ZodType)
      const check = quickCheck(def.valueType as z.ZodType)
      return (value) => isPlainObject(value) && everyMember(value, key, check)
    }
    case "object":
      return objectCheck(def)
    default:
      return askZod
  }
}

const isString = (value: unknown): boolean => typeof value === "string"
const isFiniteNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value)

function isOneOf(values: readonly unknown[]): QuickCheck {
  const [only] = values
  if (values.length === 1) return (value) => value === only
  const allowed = new Set(values)
  return (value) => allowed.has(value)
}

function anyOf(checks: readonly QuickCheck[]): QuickCheck {
  return (value) => checks.some((check) => check(value))
}

function everyItem(items: readonly unknown[], check: QuickCheck): boolean {
  for (let i = 0; i < items.length; i++) if (!check(items[i])) return false
  return true
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function everyMember(value: Record<string, unknown>, key: QuickCheck, check: QuickCheck): boolean {
  for (const name in value) if (!key(name) || !check(value[name])) return false
  return true
}

function objectCheck(def: z.core.$ZodObjectDef): QuickCheck {
  const isLoose = def.catchall !== undefined && (def.catchall as z.core.$ZodTypes)._zod.def.type === "unknown"
  const fields = new Map<string, { check: QuickCheck; isRequired: boolean }>()
  let requiredCount = 0
  for (const [name, field] of Object.entries(def.shape)) {
    const isRequired = field._zod.optin !== "optional"
    if (isRequired) requiredCount++
    fields.set(name, { check: quickCheck(field as z.ZodType), isRequired })
  }
  return (value) => {
    if (!isPlainObject(value)) return false
    let missing = requiredCount
    for (const name in value) {
      const field = fields.get(name)
      if (field === undefined) {
        if (isLoose) continue
        return false
      }
      if (!field.check(value[name])) return false
      if (field.isRequired) missing--
    }
    return missing === 0
  }
}

/** A scalar with its constraints, or nothing where one of them is unknown here. */
function scalarCheck(base: QuickCheck, checks: readonly z.core.$ZodCheck<never>[] | undefined): QuickCheck | undefined {
  const tests: QuickCheck[] = []
  for (const check of checks ?? []) {
    const test = constraint((check as unknown as z.core.$ZodChecks)._zod.def)
    if (test === undefined) return undefined
    tests.push(test)
  }
  const [first, second] = tests
  switch (tests.length) {
    case 0:
      return base
    case 1:
      return (value) => base(value) && first!(value)
    case 2:
      return (value) => base(value) && first!(value) && second!(value)
    default:
      return (value) => base(value) && tests.every((test) => test(value))
  }
}

// Each runs only on a value that already passed its base check.
function constraint(def: z.core.$ZodChecks["_zod"]["def"]): QuickCheck | undefined {
  switch (def.check) {
    case "min_length":
      return (text) => (text as string).length >= def.minimum
    case "max_length":
      return (text) => (text as string).length <= def.maximum
    case "string_format": {
      const { pattern } = def
      // A sticky or global pattern would remember where it stopped.
      if (def.format !== "regex" || pattern === undefined || pattern.flags !== "") return undefined
      return (text) => pattern.test(text as string)
    }
    case "number_format":
      return def.format === "safeint" ? Number.isSafeInteger : undefined
    case "greater_than": {
      const limit = Number(def.value)
      return def.inclusive ? (n) => (n as number) >= limit : (n) => (n as number) > limit
    }
    case "less_than": {
      const limit = Number(def.value)
      return def.inclusive ? (n) => (n as number) <= limit : (n) => (n as number) < limit
    }
    default:
      return undefined
  }
}
