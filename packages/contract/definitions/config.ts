import { z } from "zod"
import { ActionType } from "./events/decision.js"
import { Level } from "./events/log.js"
import { EffectClass } from "./events/tool-called.js"
import { CaptureMode, Constraint, Environment, Name } from "./fields.js"

export const FsyncPolicy = z.enum(["never", "interval", "always"])
export const Profile = z.enum(["debug", "audit"])

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

/** How a provider caches prompts for some models. Comes before the built-in rules. */
export const CacheRuleOverride = z.strictObject({
  models: z.array(z.string().min(1).max(256)).min(1).describe("Names of models; * at the end stands for the rest"),
  validFrom: z
    .string()
    .regex(/^\d{4}-\d\d-\d\d$/, "is not a day (2026-01-31)")
    .optional()
    .describe("First day this holds; left out: always"),
  keeps: z
    .enum(["marked", "automatic", "best_effort"])
    .describe("A prefix is kept at marks, always, or without any promise"),
  minimumTokens: z.number().int().nonnegative(),
  livesSeconds: z.number().positive().describe("How long a prefix lives after its last use"),
  stepTokens: z.number().int().positive().optional(),
  lookbackSegments: z.number().int().positive().optional(),
})

/** What runs of some days have to add up to. */
export const Objective = z.strictObject({
  name: Name.optional(),
  measure: z
    .enum(["failed_runs", "failed_calls", "failed_tools", "cost_per_run", "cache_share", "run_p95_ms", "call_p95_ms"])
    .describe("Shares of what failed, US dollars, the share of prompt tokens that came from a cache, milliseconds"),
  most: z.number().nonnegative().optional(),
  least: z.number().nonnegative().optional(),
  days: z.number().int().min(1).max(366).describe("Whole days in UTC, today included"),
  app: Name.optional().describe("Only of this application; * stands for any text"),
})

/** `event_type.field`, `*` standing for any one part. */
const FieldPath = z.string().min(1).max(512)
const Pattern = { pattern: z.string().min(1).max(4096), flags: z.string().max(8).optional() }

/** What the user adds to the built-in redaction rules. */
export const RedactionRules = z.strictObject({
  pii: z.boolean().optional().describe("Also mask e-mail addresses, phone and card numbers, IBANs and IP addresses"),
  publicKeys: z.boolean().optional().describe("Also mask keys that their owners publish: site keys, DSNs, pk_live_…"),
  deny: z
    .array(z.strictObject({ path: FieldPath, policy: z.enum(["redact_required", "hash_only", "drop"]).optional() }))
    .optional()
    .describe("Fields that are redacted, hashed or dropped whatever their type says"),
  allow: z
    .array(z.strictObject({ path: FieldPath }))
    .optional()
    .describe("Fields whose text is searched for secret shapes only"),
  keys: z
    .array(z.strictObject({ ...Pattern, action: z.enum(["mask", "drop", "hash", "allow"]) }))
    .optional()
    .describe("Keys of nested objects: what happens to the whole value under them"),
  values: z
    .array(z.strictObject({ id: z.string().min(1).max(64), ...Pattern, about: z.string().max(240).optional() }))
    .optional()
    .describe("Patterns in text: what they match is masked"),
  safeIds: z
    .array(z.string().min(1).max(256))
    .max(1024)
    .optional()
    .describe(
      "Conversation ids, scopes and names of attributes that stay readable under hashed; * at the end for any ending",
    ),
})

/** Where recordings go that are not kept in the data folder. The password is never in here: it comes from the environment or a file of its own. */
export const StoreSettings = z.strictObject({
  engine: z.literal("clickhouse"),
  url: z.string().min(1).max(2048).describe("https://host:8443; http: only to this machine, or with allowInsecure"),
  database: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, "is not the name of a database")
    .describe("One for each team: who may read it reads everything in it"),
  user: z.string().min(1).max(256).optional(),
  passwordFile: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe("A file of mode 0600; left out, ORANGEBOX_CLICKHOUSE_PASSWORD"),
  caFile: z.string().min(1).max(4096).optional().describe("PEM file of the authority that signed the certificate"),
  cluster: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, "is not the name of a cluster")
    .optional()
    .describe("Replicates the tables on the servers of this cluster"),
  allowInsecure: z.boolean().optional().describe("Lets http: leave this machine"),
})

/** Which bodies are kept when nothing goes wrong. */
export const KeptBodies = z
  .union([z.enum(["always", "on_fault"]), z.templateLiteral(["sample:", z.string().regex(/^[1-9]\d{0,8}$/)])], {
    error: "is none of always, on_fault, sample:N",
  })
  .describe("always, on_fault, or sample:N (one successful call in N)")
export const AuditMode = z.enum(["required", "best_effort"])

/** A judge is a command that reads a question as JSON on stdin and answers with JSON on stdout. */
export const JudgeCommand = z.strictObject({
  command: z.array(z.string().min(1)).min(1),
  timeoutMs: z.number().int().min(1).optional(),
})

/** What a tool of the application does, where its name alone does not tell. */
export const ToolMeaning = z.strictObject({
  action: ActionType.optional(),
  effect: EffectClass.optional(),
  path: z.string().min(1).max(256).optional().describe("The argument that names the file it touches"),
  command: z.string().min(1).max(256).optional().describe("The argument that holds a shell command"),
})

const Age = z.string().regex(/^(?:\d{1,6}[smhdw]|forever)$/, "is not a time such as 12h, 30d or 2w, or forever")

/** How long things are kept; what is left out is kept as long as by default. */
export const Retention = z.strictObject({
  events: Age.optional().describe("Everything about a run, counted from its end; its daily sums stay. Default 180d"),
  bodies: Age.optional().describe("Prompts, answers and tool traffic. Default 30d"),
  snapshots: Age.optional().describe("What was stored because of a fault, and work trees. Default 14d"),
  manifests: Age.optional().describe("Context manifests. Default 180d"),
  rollups: Age.optional().describe("Daily sums of runs that are gone. Default forever"),
  problems: Age.optional().describe("Gaps and problems that belong to no run that is here. Default 180d"),
  journals: Age.optional().describe("Journals that are wholly in the store, as a second copy. Default 24h"),
  maxBodyBytes: z.number().int().min(0).optional().describe("What bodies may take on disk. Default 4 GiB"),
})

/** `orangebox.config.json`: one file, one schema, grown with the product. */
export const Config = z.strictObject({
  $schema: z.string().optional(),
  app: z.string().min(1).max(256).optional().describe("Name of the application, shown on every run"),
  enabled: z.boolean().optional().describe("false turns recording off"),
  profile: Profile.optional().describe(
    "debug: verbatim and fail-open; audit: manifests only, everything on a fault, fail-closed",
  ),
  capture: CaptureMode.optional().describe("What is kept of prompts, answers and tool traffic"),
  allowFull: z.boolean().optional().describe("Needed beside capture full wherever the environment is not local"),
  bodies: KeptBodies.optional(),
  audit: AuditMode.optional().describe("required: a manifest or snapshot that cannot be written stops the run"),
  environment: Environment.optional().describe("Where the application runs; found from CI variables when left out"),
  redaction: RedactionRules.optional().describe("Redaction rules beside the built-in ones"),
  upstreams: z
    .record(Name, z.url({ protocol: /^https?$/ }))
    .optional()
    .describe("Where the proxy forwards the calls of a provider; needs trust in a repository's configuration"),
  checks: z
    .array(Constraint.extend({ severity: z.enum(["warn", "fail"]).optional() }))
    .optional()
    .describe("Rules every run is held to"),
  objectives: z.array(Objective).max(100).optional().describe("What orangebox slo holds the daily sums against"),
  judges: z
    .record(Name, JudgeCommand)
    .optional()
    .describe("Commands behind judge:<name> rules; need trust in a repository's configuration"),
  tools: z.record(Name, ToolMeaning).optional().describe("What the application's own tools do"),
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
  retention: Retention.optional().describe(
    "How long things are kept; needs trust in a repository's configuration, and holds for data folders below it",
  ),
  store: StoreSettings.optional().describe(
    "The ClickHouse that holds the recordings of many machines; needs trust in a repository's configuration, and holds for data folders below it",
  ),
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
  cacheRules: z
    .array(CacheRuleOverride)
    .optional()
    .describe("How providers cache prompts, where that differs from the built-in rules"),
})
