import { z } from "zod"
import { OrangeboxError } from "../src/error.js"
import { canonicalHash } from "../src/hash.js"
import type { Edition } from "../src/schema/schema-node.js"
import { SCHEMA_VERSION } from "../src/version.js"
import { BackupManifest } from "./backup-manifest.js"
import { CATALOG, EVENT_TYPES, type EventType, eventSchema } from "./catalog.js"
import { Config } from "./config.js"
import { CandidateList } from "./events/retrieval-executed.js"
import { FindingsReport } from "./findings-report.js"
import { RunSignature } from "./run-signature.js"
import { SourceDiagnostics } from "./source-diagnostics.js"

/**
 * The published JSON Schemas (draft 2020-12), generated from the definitions and kept in `schemas/` beside them.
 * What JSON Schema cannot say about one event (place in a run, refs that must be listed) is said by `validate`.
 */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** File name → schema, for every file in `schemas/` but the history. */
export function publishedSchemas(): ReadonlyMap<string, JsonSchema> {
  return new Map([
    ...eventFiles("current"),
    ["event.schema.json", unionOf(EVENT_TYPES)],
    ["orangebox.diagnostics.schema.json", { title: "orangebox.diagnostics/1", ...jsonSchema(SourceDiagnostics) }],
    ["orangebox.findings.schema.json", { title: "orangebox.findings/1", ...jsonSchema(FindingsReport) }],
    ["orangebox.backup.schema.json", { title: "orangebox.backup/1", ...jsonSchema(BackupManifest) }],
    ["orangebox.signature.schema.json", { title: "orangebox.signature/1", ...jsonSchema(RunSignature) }],
    ["orangebox.config.schema.json", { title: "orangebox.config.json", ...jsonSchema(Config) }],
  ])
}

/** Every file of `schemas/`. `isUnreleased` says that the current version is not published yet. */
export function jsonSchemas(options: { isUnreleased: boolean; read: (name: string) => string }): Map<string, string> {
  const digests = [
    ["1.0.0", schemaDigest("first")],
    [SCHEMA_VERSION, schemaDigest("current")],
  ] as const
  const history = digests.reduce(
    (known, [version, digest]) => recordVersion(known, version, digest, options.isUnreleased),
    JSON.parse(options.read("history.json")) as SchemaHistory,
  )
  return new Map(
    [...publishedSchemas(), ["history.json", history] as const].map(([name, schema]) => [name, schemaText(schema)]),
  )
}

/** Published version → digest of the schemas of all its event types. */
export type SchemaHistory = { readonly [version: string]: string }

/** One hash over everything an event of that edition may look like. */
export function schemaDigest(edition: Edition): string {
  return canonicalHash(Object.fromEntries(eventFiles(edition)))
}

/**
 * The history with a version's digest in it. A digest that is already there stays: changing what a published version means is a new
 * version. `isUnreleased` says that the version is not published yet.
 */
export function recordVersion(
  history: SchemaHistory,
  version: string,
  digest: string,
  isUnreleased: boolean,
): SchemaHistory {
  const published = history[version]
  if (published !== undefined && published !== digest && !isUnreleased) {
    throw new OrangeboxError("SCHEMA_VERSION", {
      what: `the event schemas changed, but ${version} is already published with other ones`,
      where: "schemas/history.json",
      next: "Raise SCHEMA_VERSION in src/version.ts, or pass --unreleased if nobody has this version yet",
    })
  }
  return { ...history, [version]: digest }
}

/** Keys sorted and indented by two, so that the same schema is the same file. */
export function schemaText(schema: JsonSchema | SchemaHistory): string {
  return `${JSON.stringify(sorted(schema), null, 2)}\n`
}

function eventFiles(edition: Edition): [string, JsonSchema][] {
  const types = EVENT_TYPES.filter((type) => edition !== "first" || CATALOG[type].since === "1.0")
  return [
    ...types.map((type): [string, JsonSchema] => [fileOf(type), eventFile(type, edition)]),
    ["candidate-list.schema.json", { title: "candidate list", ...jsonSchema(CandidateList) }],
  ]
}

const fileOf = (type: EventType): string => `${type}.schema.json`

function eventFile(type: EventType, edition: Edition): JsonSchema {
  const schema = jsonSchema(eventSchema(type, edition))
  if (type !== "run_started") return { title: type, ...schema }
  // The one alternative among fields, which no single field's schema can say.
  const { payload, ...others } = schema["properties"] as Record<string, JsonSchema>
  const anyOf = [{ required: ["input_summary"] }, { required: ["input_summary_ref"] }]
  return { title: type, ...schema, properties: { ...others, payload: { ...payload, anyOf } } }
}

function unionOf(types: readonly EventType[]): JsonSchema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "event",
    oneOf: types.map((type) => ({ $ref: fileOf(type) })),
  }
}

// The marks are ours; under an x- name they are annotations to every JSON Schema tool instead of unknown keywords.
const MARKS = { since: "x-since", bodyRef: "x-body-ref" } as const

function jsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    target: "draft-2020-12",
    override: ({ jsonSchema }) => {
      for (const [mark, annotation] of Object.entries(MARKS)) {
        if (!(mark in jsonSchema)) continue
        jsonSchema[annotation] = jsonSchema[mark]
        delete jsonSchema[mark]
      }
    },
  }) as JsonSchema
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)]),
  )
}
