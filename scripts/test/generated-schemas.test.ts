import { readdirSync, readFileSync } from "node:fs"
import type { Schema } from "@orangebox/contract"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { z } from "zod"
import * as context from "../../packages/context/definitions/index.js"
import * as contextShipped from "../../packages/context/src/generated.js"
import * as contract from "../../packages/contract/definitions/index.js"
import * as contractShipped from "../../packages/contract/src/generated.js"
import * as decisions from "../../packages/decisions/definitions/index.js"
import * as decisionsShipped from "../../packages/decisions/src/generated.js"
import * as replay from "../../packages/replay/definitions/index.js"
import * as replayShipped from "../../packages/replay/src/generated.js"
import * as server from "../../packages/server/definitions/index.js"
import { filesOf } from "../generate-schemas.mjs"

const packages = { context, contract, decisions, replay }
const shipped = { ...contextShipped, ...contractShipped, ...decisionsShipped, ...replayShipped }
const defined: Record<string, z.ZodType> = {
  ...context.schemas,
  ...contract.schemas,
  ...decisions.schemas,
  ...replay.schemas,
}

test.each(Object.entries(packages))(
  "[C-01][M-01][D-01][P-06][P-09] what packages/%s ships is what its definitions say; if not: npm run schemas",
  (name, definitions) => {
    const folder = `packages/${name}`
    const files = filesOf(definitions, folder)
    for (const [file, text] of files) expect(readFileSync(file, "utf8"), file).toBe(text)
    expect(
      readdirSync(`${folder}/schemas`)
        .map((file) => `${folder}/schemas/${file}`)
        .filter((file) => !files.has(file)),
    ).toEqual([])
  },
)

test("[O-03] what packages/server says of its answers is what its definitions say; if not: npm run schemas", () => {
  for (const [file, text] of filesOf(server, "packages/server")) expect(readFileSync(file, "utf8"), file).toBe(text)
})

const HASH = `sha256:${"a".repeat(64)}`
const span = { schema_version: "0.1.0", seq: 1, extensionId: "x", turnId: "t", spanId: "s", timestamp: 5 }
const SAMPLES: readonly (readonly [string, unknown])[] = [
  [
    "Config",
    {
      app: "fixer",
      capture: "redacted",
      bodies: "sample:10",
      redaction: {
        pii: true,
        deny: [{ path: "log.message", policy: "drop" }],
        keys: [{ pattern: "x", action: "mask" }],
      },
      upstreams: { openai: "https://api.example.com/v1" },
      checks: [{ id: "a", type: "scope", rule: "paths.only src/**", severity: "warn" }],
      judges: { tone: { command: ["node", "judge.js"], timeoutMs: 5 } },
      tools: { read: { action: "edit", effect: "read", path: "file" } },
      journal: { fsync: "never", maxFileBytes: 5000 },
      sources: { billing: { level: "warn", sample: 3 } },
      prices: [{ model: "m", validFrom: "2026-01-31", input: 1, output: 2, cacheRead: null }],
    },
  ],
  ["RecordV0", { ...span, kind: "log", level: "info", msg: "hello", attributes: { a: 1 }, more: 1 }],
  [
    "OverrideProfile",
    {
      schema_version: 1,
      rules: [
        { id: "a", select: { kind: "model", match: { "/model": "x" } }, op: { type: "model.swap", model: "y" } },
        {
          id: "b",
          select: { tool: "t" },
          op: { type: "tool.result", result: { json_patch: [{ op: "remove", path: "/a" }] } },
        },
        { id: "c", select: { step_id: "s" }, op: { type: "system.edit", edit: { find: "a", with: "b" } } },
        { id: "d", select: { occurrence: 1 }, op: { type: "fault", fault: "http_status", status: 503 }, times: 1 },
      ],
    },
  ],
  [
    "MasksFile",
    { v: 1, canon_version: 1, masks: [{ id: "a", type: "uuid", at: "/x", accepted_by: "me", accepted_at: "now" }] },
  ],
  [
    "JudgeAnswer",
    { status: "fail", score: 0.5, violations: [{ message: "no", step_id: "s", why: "dropped" }], other: 1 },
  ],
  [
    "PortableHeader",
    { v: 2, format: "orangebox-run", run_id: "r", runs: ["r"], events: 1, bodies: 0, digest: "d", written_by: "w" },
  ],
  ["CandidateList", [{ rank: 0, chunk_id: "c", document_id: null, score: 0.1, source_uri: null, content_ref: HASH }]],
  ["Verdict", "pass"],
]

const TELLING: readonly unknown[] = [
  null,
  undefined,
  "",
  "x",
  HASH,
  0,
  -1,
  1.5,
  2 ** 60,
  -(2 ** 60),
  Number.NaN,
  true,
  [],
  {},
  [""],
  "x".repeat(600),
  "error",
  "http:x",
  "http:/x",
  "http://x",
  " HTTPS://x\n",
  "http://x\ny",
  "ftp://x",
]
const HOWS = ["replace", "remove", "add"] as const

const anything = fc.oneof(fc.constantFrom(...TELLING), fc.anything({ withNullPrototype: true, withDate: true }))

describe("[C-02] what ships reads a value as its zod definition does, and says the same in the same words", () => {
  test.each(SAMPLES)("%s", (name, sample) => {
    const schema = shipped[name as keyof typeof shipped] as unknown as Schema<unknown>
    const definition = defined[name]!
    const compare = (value: unknown): void =>
      expect(told(schema.safeParse(value))).toEqual(told(definition.safeParse(value)))
    compare(sample)
    const paths = pathsOf(sample)
    for (const path of paths)
      for (const value of TELLING) for (const how of HOWS) compare(changed(sample, path, value, how))
    fc.assert(
      fc.property(fc.nat(), anything, fc.constantFrom(...HOWS), (at, value, how) => {
        compare(changed(sample, paths[at % paths.length]!, value, how))
      }),
      { numRuns: 400 },
    )
  })
})

type Reading = {
  data?: unknown
  error?: { issues: readonly { path: readonly PropertyKey[]; message: string }[] } | undefined
}
// The first problem of each place: of a list where a text should be, zod also says that it is too short for one.
function told({ data, error }: Reading): unknown {
  if (error === undefined) return { data }
  const first = new Map<string, string>()
  for (const { path, message } of error.issues) {
    const place = path.map(String).join(".")
    if (!first.has(place)) first.set(place, message)
  }
  return first
}

type Path = readonly (string | number)[]

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([name, member]) => pathsOf(member, [...path, name]))]
}

function changed(value: unknown, [name, ...rest]: Path, to: unknown, how: string): unknown {
  if (name === undefined) return how === "add" && typeof value === "object" ? { ...value, unheard_of: to } : to
  const copy: Record<string, unknown> = Array.isArray(value) ? ([...value] as never) : { ...(value as object) }
  if (rest.length === 0 && how === "remove") delete copy[name]
  else copy[name] = changed(copy[name], rest, to, how)
  return copy
}
