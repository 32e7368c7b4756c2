import { z } from "zod"
import { MasksFile } from "./calibrate/masks-file.js"
import { Certificate } from "./certificate/certificate.js"
import { runDiffJsonSchemaText } from "./diff/index.js"
import { OverrideProfile } from "./override/profile.js"
import { DivergenceReport } from "./report/divergence.js"

/** File name → text of every JSON Schema (draft 2020-12) that is published with the package. */
export function replaySchemas(): ReadonlyMap<string, string> {
  return new Map([
    [
      "override-profile.schema.json",
      schemaText("orangebox:override-profile:1", "override profile", OverrideProfile, "input"),
    ],
    [
      "divergence-report.schema.json",
      schemaText("orangebox:divergence-report:1", "divergence report", DivergenceReport, "output"),
    ],
    ["certificate.schema.json", schemaText("orangebox:certificate:1", "exactness certificate", Certificate, "output")],
    ["masks.schema.json", schemaText("orangebox:masks:1", "accepted masks", MasksFile, "input")],
    ["run-diff.schema.json", runDiffJsonSchemaText()],
  ])
}

// What people write may leave out whatever has a default; what we write has everything.
function schemaText($id: string, title: string, schema: z.ZodType, io: "input" | "output"): string {
  return `${JSON.stringify({ $id, title, ...z.toJSONSchema(schema, { target: "draft-2020-12", io }) }, null, 2)}\n`
}
