import { z } from "zod"
import { ContextManifest } from "./manifest.js"

/** The manifest as JSON Schema (draft 2020-12), in the one spelling that `schemas/context-manifest.schema.json` holds. */
export function manifestJsonSchemaText(): string {
  const schema = z.toJSONSchema(ContextManifest, { target: "draft-2020-12" })
  return `${JSON.stringify({ title: "context manifest", ...schema }, null, 2)}\n`
}
