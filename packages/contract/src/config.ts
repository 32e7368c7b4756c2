import { z } from "zod"
import { Level } from "./events/log.js"
import { CaptureMode } from "./fields.js"

export const FsyncPolicy = z.enum(["never", "interval", "always"])
export type FsyncPolicy = z.infer<typeof FsyncPolicy>
export const Profile = z.enum(["debug", "audit"])
export type Profile = z.infer<typeof Profile>

const DollarsPerMillion = z.number().nonnegative()

/** What a model costs, in US dollars per million tokens; null is unknown. Takes the place of the built-in entry for the model. */
export const PriceOverride = z.strictObject({
  model: z.string().min(1).max(256),
  validFrom: z
    .string()
    .regex(/^\d{4}-\d\d-\d\d$/, "is not a day (2026-01-31)")
    .optional()
    .describe("First day these rates hold; left out: always"),
  input: DollarsPerMillion,
  output: DollarsPerMillion,
  cacheRead: DollarsPerMillion.nullable().optional(),
  cacheWrite5m: DollarsPerMillion.nullable().optional(),
  cacheWrite1h: DollarsPerMillion.nullable().optional(),
})
export type PriceOverride = z.infer<typeof PriceOverride>

/** `orangebox.config.json`: one file, one schema, grown with the product. */
export const Config = z.strictObject({
  $schema: z.string().optional(),
  app: z.string().min(1).max(256).optional().describe("Name of the application, shown on every run"),
  enabled: z.boolean().optional().describe("false turns recording off"),
  profile: Profile.optional().describe(
    "debug: verbatim and fail-open; audit: manifests only, everything on a fault, fail-closed",
  ),
  capture: CaptureMode.optional().describe("What is kept of prompts, answers and tool traffic"),
  strict: z
    .boolean()
    .optional()
    .describe("true throws on an event that breaks the contract instead of recording it with its problems"),
  journal: z
    .strictObject({
      fsync: FsyncPolicy.optional().describe(
        "never, interval (once a second) or always; all three survive a killed process",
      ),
      maxFileBytes: z.number().int().min(4096).optional().describe("A journal file is rotated above this size"),
      maxFileAgeMs: z.number().int().min(1000).optional().describe("A journal file is rotated above this age"),
      maxTotalBytes: z.number().int().min(65536).optional().describe("All journal files of the data folder together"),
    })
    .optional(),
  sources: z
    .record(
      z.string(),
      z.strictObject({
        level: Level.optional().describe("Logs below this level are not recorded"),
        sample: z.number().int().min(1).optional().describe("Keep one in N debug and info logs"),
      }),
    )
    .optional()
    .describe("Per source: minimum level and sampling of logs"),
  prices: z
    .array(PriceOverride)
    .optional()
    .describe("Prices of models that differ from the built-in table or are not in it"),
})
export type Config = z.infer<typeof Config>
