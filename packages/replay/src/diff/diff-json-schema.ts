import { z } from "zod"
import { RunDiff } from "./run-diff.js"

/** The published JSON Schema (draft 2020-12) of a run diff, as the text of its file. */
export function runDiffJsonSchemaText(): string {
  const schema = z.toJSONSchema(RunDiff, { target: "draft-2020-12" })
  return `${JSON.stringify({ title: "run diff", ...schema }, null, 2)}\n`
}
