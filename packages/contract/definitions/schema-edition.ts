import { z } from "zod"
import type { Edition } from "../src/schema/schema-node.js"

/** The definition as one edition of it reads; the shipped schemas do the same in `src/schema/schema-node.ts`. */
export function editionOf(schema: z.ZodType, edition: Edition): z.ZodType {
  return edition === "current" ? schema : rebuild(schema, edition)
}

function rebuild(schema: z.ZodType, edition: "first" | "newer"): z.ZodType {
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape as Record<string, z.ZodType>)
      .filter(([, field]) => edition !== "first" || field.meta()?.["since"] === undefined)
      .map(([name, field]) => [name, rebuild(field, edition)] as const)
    const shape = Object.fromEntries(fields)
    return edition === "newer" ? z.looseObject(shape) : z.strictObject(shape)
  }
  if (schema instanceof z.ZodOptional) return rebuild(inner(schema), edition).optional()
  if (schema instanceof z.ZodNullable) return rebuild(inner(schema), edition).nullable()
  if (schema instanceof z.ZodArray) return z.array(rebuild(schema.element as z.ZodType, edition))
  return schema
}

const inner = (schema: z.ZodOptional | z.ZodNullable): z.ZodType => schema.unwrap() as z.ZodType
