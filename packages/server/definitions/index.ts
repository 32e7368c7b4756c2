import { z } from "zod"
import * as answers from "./answers.js"

/** The answers of the HTTP API as JSON Schemas, by their names: what the OpenAPI document is put together from. */
export function generated(): string {
  const byName = Object.entries(answers).sort(([a], [b]) => (a < b ? -1 : 1))
  const schemas = byName.map(([name, schema]) => {
    const { $schema: _, ...json } = z.toJSONSchema(schema, { target: "draft-2020-12" })
    return `  ${name}: ${JSON.stringify(json)},`
  })
  return [
    "// Written by `npm run schemas` from the zod definitions in definitions/. Change those.",
    "",
    "export const ANSWERS: Readonly<Record<string, object>> = {",
    ...schemas,
    "}",
    "",
  ].join("\n")
}

export const jsonSchemas = (): Map<string, string> => new Map()
