import { nearestWord, safeJson } from "@orangebox/text"
import { leastBudgetOf, listed, MOST_BUDGET, type Tool, type ToolArgs } from "./tools.js"

/** What is wrong with the arguments of a call, and what to do; undefined where nothing is. */
export function wrongArgs(tool: Tool, args: ToolArgs): { code: string; what: string; next: string } | undefined {
  const { properties, required = [] } = listed(tool).inputSchema
  for (const [name, value] of Object.entries(args)) {
    const schema = properties[name as keyof typeof properties] as Schema | undefined
    if (schema === undefined) {
      const meant = nearestWord(name, Object.keys(properties))
      return bad(
        `${tool.name} takes no ${safeJson(name)}`,
        `${meant === undefined ? "" : `Did you mean ${meant}? `}It takes: ${Object.keys(properties).join(", ")}`,
      )
    }
    const least = leastBudgetOf(tool)
    if (name === "budget" && typeof value === "number" && value < least)
      return { code: "budget_too_small", what: `${value} tokens`, next: `Ask for ${least} to ${MOST_BUDGET}` }
    const wanted = misfit(schema, value)
    if (wanted === undefined) continue
    return bad(`${name} must be ${wanted}`, "Call it again with that")
  }
  const missing = required.find((name) => args[name] === undefined)
  return missing === undefined ? undefined : bad(`${tool.name} needs ${missing}`, "Call it again with that")
}

interface Schema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
}

/** What a value should be, where it is not. */
function misfit(
  { type, enum: choices, minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Schema,
  value: unknown,
): string | undefined {
  if (choices !== undefined) return choices.includes(value as string) ? undefined : `one of ${choices.join(", ")}`
  if (type === "integer") {
    const isFit = Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum
    return isFit
      ? undefined
      : `a whole number from ${minimum}${maximum === Number.MAX_SAFE_INTEGER ? "" : ` to ${maximum}`}`
  }
  if (type === "object")
    return typeof value === "object" && value !== null && !Array.isArray(value) ? undefined : "an object"
  if (type === "string" && value === "") return "a text that is not empty"
  return typeof value === type ? undefined : `a ${type}`
}

const bad = (what: string, next: string) => ({ code: "bad_input", what, next })
