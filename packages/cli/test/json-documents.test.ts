import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { newSigningKey } from "@orangebox/reader"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { record, recordOrdinaryRun } from "./recorded-run.js"

const DOCUMENT = readFileSync(new URL("../../../docs/cli-json.md", import.meta.url), "utf8")

const exported = join(tmpdir(), `orangebox-${process.pid}.obxrun`)

const signingKey = join(tmpdir(), `orangebox-${process.pid}.pem`)
writeFileSync(signingKey, newSigningKey().privatePem, { mode: 0o600 })
afterAll(() => rmSync(signingKey))

const kept = join(tmpdir(), `orangebox-${process.pid}-kept.obxrun`)
afterAll(() => rmSync(kept, { force: true }))
const copied = join(tmpdir(), `orangebox-${process.pid}-backup`)
afterAll(() => rmSync(copied, { recursive: true, force: true }))

/** The example under a heading of docs/cli-json.md. */
function documented(section: string): unknown {
  const text = DOCUMENT.split(/^## /m).find((part) => part.startsWith(`${section}\n`))
  const example = /```json\n([\s\S]*?)```/.exec(text ?? "")?.[1]
  if (example === undefined) throw new Error(`docs/cli-json.md has no example for ${section}`)
  return JSON.parse(example)
}

/** Every path of keys in a document; elements of a list count as one, and what is null has no inside. */
function paths(value: unknown, at = ""): Set<string> {
  if (Array.isArray(value)) return new Set(value.flatMap((element) => [...paths(element, `${at}[]`)]))
  if (typeof value !== "object" || value === null) return new Set()
  return new Set(Object.entries(value).flatMap(([key, inner]) => [`${at}.${key}`, ...paths(inner, `${at}.${key}`)]))
}

/** What one of two documents has where the other has an empty list or null is not a difference. */
function differences(left: unknown, right: unknown): string[] {
  const known = paths(right)
  const isOpen = (path: string): boolean => [...emptyPlaces(right)].some((place) => path.startsWith(place))
  return [...paths(left)].filter((path) => !known.has(path) && !isOpen(path))
}

function* emptyPlaces(value: unknown, at = ""): Generator<string> {
  if (Array.isArray(value)) {
    if (value.length === 0) yield `${at}[]`
    for (const element of value) yield* emptyPlaces(element, `${at}[]`)
  } else if (value === null) yield `${at}.`
  else if (typeof value === "object") {
    for (const [key, inner] of Object.entries(value as object)) yield* emptyPlaces(inner, `${at}.${key}`)
  }
}

describe("[O-02] --json is a documented contract", () => {
  let scratch: Scratch
  beforeAll(async () => {
    scratch = scratchFolder()
    await record(scratch.path, async (recorder) => {
      await recordOrdinaryRun(recorder, "count the goats")
      await recordOrdinaryRun(recorder)
    })
  })
  afterAll(() => {
    scratch.remove()
    rmSync(exported, { force: true })
  })

  test.each([
    ["collect", ["collect"]],
    ["runs", ["runs"]],
    ["show", ["show"]],
    ["step", ["step", "last#3"]],
    ["step --brief", ["step", "last#3", "--brief"]],
    ["step --body", ["step", "toolu_sheep", "--body", "result"]],
    ["context", ["context"]],
    ["context of a step", ["context", "last#3"]],
    ["context --why", ["context", "--why", "user"]],
    ["context --rebuild", ["context", "last#3", "--rebuild"]],
    ["cache", ["cache"]],
    ["diagnose", ["diagnose"]],
    ["handoff", ["handoff"]],
    ["findings", ["findings", "last"]],
    ["mcp --print", ["mcp", "--print", "cursor"]],
    ["snapshot", ["snapshot", "last", "--write"]],
    ["diff", ["diff", "last~1", "last"]],
    ["diff --at", ["diff", "last~1", "last", "--at", "3"]],
    ["diff of two steps", ["diff", "last~1#3", "last#3"]],
    ["export", ["export", "--force", "--output", exported]],
    ["decisions", ["decisions", "last#4"]],
    ["check", ["check", "last", "--rule", "output.max_chars 3"]],
    ["report", ["report", "last", "--rule", "output.max_chars 3"]],
    ["replay", ["replay", "last"]],
    ["replay --calibrate", ["replay", "last", "--calibrate", "last"]],
    ["search", ["search", "sheep"]],
    ["stats", ["stats"]],
    ["stats --by", ["stats", "--by", "model"]],
    ["stats --by contributor", ["stats", "--by", "contributor"]],
    ["sql", ["sql", "SELECT status, count(*) FROM runs GROUP BY status"]],
    ["verify", ["verify"]],
    ["sign", ["sign", "last", "--key", signingKey]],
    ["verify --signed-by", ["verify", "--signed-by", signingKey]],
    ["backup", ["backup", copied]],
    ["keep", ["keep", "last", kept]],
    ["collect --status", ["collect", "--status"]],
    ["collect --rebuild", ["collect", "--rebuild"]],
    ["redact", ["redact", fileURLToPath(import.meta.url)]],
    ["redact --explain", ["redact", "--explain", fileURLToPath(import.meta.url)]],
    ["redact --stored", ["redact", "--stored", "--all-rules", "--dry-run"]],
    ["redact --rules", ["redact", "--rules"]],
    ["prune", ["prune", "--max-age", "30d"]],
    ["trust", ["trust", fileURLToPath(new URL("untrusted", import.meta.url))]],
    ["trust --list", ["trust", "--list"]],
    ["trust --revoke", ["trust", "--revoke", tmpdir()]],
    ["doctor", ["doctor"]],
    ["override", ["override", "last#4", "--verdict", "pass", "--reason", "seen", "--author", "ann"]],
    ["completion", ["completion", "bash"]],
  ])("%s prints the document that docs/cli-json.md describes", async (section, args) => {
    // The process that runs a query exists only in the build.
    const call = section === "sql" ? orangebox : orangeboxHere
    const printed = jsonOf(await call([...args, "--json", "--data", scratch.path]))
    const example = documented(section)
    expect(differences(example, printed), "documented, but not printed").toEqual([])
    expect(differences(printed, example).filter(isOurs), "printed, but not documented").toEqual([])
  })

  test("restore prints the document that docs/cli-json.md describes", async () => {
    const folder = `${copied}-restored`
    const printed = jsonOf(await orangeboxHere(["restore", copied, "--json", "--data", folder]))
    rmSync(folder, { recursive: true })
    expect(differences(documented("restore"), printed)).toEqual([])
    expect(differences(printed, documented("restore"))).toEqual([])
  })

  test("fork prints the document that docs/cli-json.md describes, its reports being those of replay", async () => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end('{"type":"message","role":"assistant","model":"m","content":[],"stop_reason":"end_turn"}')
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    let runId = ""
    await record(scratch.path, async (recorder) => {
      const run = recorder.startRun({ entrypoint: "ask" })
      runId = run.runId
      const body = '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"}]}'
      await (await run.fetch(`${origin}/v1/messages`, { method: "POST", body })).text()
      run.complete()
    })
    const args = ["fork", `${runId}#2`, "--set", "model=n", "--control", "--json", "--data", scratch.path]
    const printed = jsonOf<ForkDocument>(await orangebox(args, { env: { ANTHROPIC_BASE_URL: origin } }))
    server.close().closeAllConnections()
    const example = documented("fork")
    const { report } = documented("replay") as { report: unknown }
    for (const sample of printed.samples) expect(differences(report, sample.report)).toEqual([])
    const bare = { ...printed, samples: printed.samples.map((sample) => ({ ...sample, report: {} })) }
    expect(differences(example, bare), "documented, but not printed").toEqual([])
    expect(differences(bare, example), "printed, but not documented").toEqual([])
  })
})

interface ForkDocument {
  readonly samples: readonly { readonly report: unknown }[]
}

/** Runs and steps are views of the query package, which may add to them; decisions have a schema of their own. */
const isOurs = (path: string): boolean =>
  !/^\.(run|rows\[\]|step|runs\[\]\.money|decisions\[\]|summary\.actions)\./.test(path)
