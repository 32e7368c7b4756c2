import { z } from "zod"
import * as certificate from "./certificate.js"
import * as divergence from "./divergence.js"
import { MasksFile } from "./masks-file.js"
import * as profile from "./override-profile.js"
import { PortableHeader, PortableNotes } from "./portable-format.js"
import * as diff from "./run-diff.js"
import { WorkspaceSnapshot } from "./workspace-snapshot.js"

export const shared = { ...certificate, ...divergence, ...profile, ...diff }

export const types = {
  Cause: diff.Cause,
  Change: diff.Change,
  Compared: certificate.Compared,
  ContextRef: profile.ContextRef,
  DiffItem: diff.DiffItem,
  Divergence: divergence.Divergence,
  Field: diff.Field,
  JsonPatchOp: profile.JsonPatchOp,
  LeafClass: divergence.LeafClass,
  LeafDiff: divergence.LeafDiff,
  NearestCall: divergence.NearestCall,
  OverrideOp: profile.OverrideOp,
  OverrideRule: profile.OverrideRule,
  OverrideValue: profile.OverrideValue,
  PayloadDiff: diff.PayloadDiff,
  PayloadOp: diff.PayloadOp,
  Selector: profile.Selector,
  SideOfDiff: diff.SideOfDiff,
  StepOfDiff: diff.StepOfDiff,
  TextDiff: diff.TextDiff,
  TextEdit: profile.TextEdit,
  TextHunk: diff.TextHunk,
}

export const schemas = {
  Certificate: certificate.Certificate,
  DeclaredOutputs: certificate.DeclaredOutputs,
  DivergenceCode: divergence.DivergenceCode,
  DivergenceReport: divergence.DivergenceReport,
  MasksFile,
  OverrideProfile: profile.OverrideProfile,
  PortableHeader,
  PortableNotes,
  RunDiff: diff.RunDiff,
  Tier: diff.Tier,
  WorkspaceSnapshot,
}

/** File name → text of every JSON Schema (draft 2020-12) that is published with the package. */
export function jsonSchemas(): Map<string, string> {
  const runDiff = z.toJSONSchema(diff.RunDiff, { target: "draft-2020-12" })
  return new Map([
    [
      "override-profile.schema.json",
      schemaText("orangebox:override-profile:1", "override profile", profile.OverrideProfile, "input"),
    ],
    [
      "divergence-report.schema.json",
      schemaText("orangebox:divergence-report:1", "divergence report", divergence.DivergenceReport, "output"),
    ],
    [
      "certificate.schema.json",
      schemaText("orangebox:certificate:3", "exactness certificate", certificate.Certificate, "output"),
    ],
    ["masks.schema.json", schemaText("orangebox:masks:1", "accepted masks", MasksFile, "input")],
    ["run-diff.schema.json", `${JSON.stringify({ title: "run diff", ...runDiff }, null, 2)}\n`],
  ])
}

// What people write may leave out whatever has a default; what we write has everything.
function schemaText($id: string, title: string, schema: z.ZodType, io: "input" | "output"): string {
  return `${JSON.stringify({ $id, title, ...z.toJSONSchema(schema, { target: "draft-2020-12", io }) }, null, 2)}\n`
}
