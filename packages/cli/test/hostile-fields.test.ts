import { join } from "node:path"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js"
import { definitionOf, EVENT_TYPES } from "@orangebox/contract"
import { createMcpServer } from "@orangebox/server"
import { openStore } from "@orangebox/store"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { hostileRun, MARK, refusedIn, typesIn } from "./hostile-events.js"
import { call, fencesOf } from "./mcp-client.js"

const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Bidi_Control}]/u
const RUNS = [hostileRun(1, "run_completed"), hostileRun(2, "run_failed")]
const STEPS = [1, 2, 3, 4]

describe("[O-04] [Q-03] hostile text in every field of every event, in every answer of every door", () => {
  let scratch: Scratch
  let client: Client
  beforeAll(async () => {
    scratch = scratchFolder()
    const { store } = openStore(join(scratch.path, "store"))
    for (const run of RUNS) await store.commit(run.batch())
    await store.close()
    client = new Client({ name: "test", version: "1" })
    const [here, there] = InMemoryTransport.createLinkedPair()
    await createMcpServer({ data: scratch.path, version: "1", skill: "find, don't fix" }).connect(there)
    await client.connect(here)
  })
  afterAll(async () => {
    await client.close()
    scratch.remove()
  })

  test("the generator makes every event of a run, and the contract takes all of them", () => {
    expect(RUNS.flatMap(refusedIn)).toEqual([])
    const ofRuns = EVENT_TYPES.filter((type) => definitionOf(type).role.does !== "process")
    expect(typesIn(RUNS)).toEqual(ofRuns.toSorted())
  })

  const ids = ["last", ...STEPS.map((n) => `last#${n}`)]
  const each = (command: string): string[][] => ids.map((id) => [command, id])
  const commands: readonly string[][] = [
    ["runs"],
    ...["show", "step", "context", "diagnose", "cache", "handoff", "decisions"].flatMap(each),
    ["show", "last", "--all"],
    ["step", "last#2", "--brief"],
    ["report"],
    ["findings", "last"],
    ["verify"],
    ["search", MARK],
    ["diff", "last~1", "last"],
    ["snapshot", "--list"],
    ...["", "model", "tool", "kind", "day", "app", "version", "provider", "source", "contributor"].map((by) =>
      by === "" ? ["stats"] : ["stats", "--by", by],
    ),
    ["show", `c${MARK}`],
    ["show", "run_0000000000000000000000000"],
  ]

  test.each(commands)("orangebox %s %s %s", async (...words) => {
    const args = words.filter((word) => word !== undefined)
    const { stdout, stderr } = await orangeboxHere([...args, "--data", scratch.path])
    expectQuoted(stdout)
    expectQuoted(stderr)
    if (args[0] === "handoff") expect(fencesOf(stdout).outside).not.toContain(MARK)
    const json = await orangeboxHere([...args, "--json", "--data", scratch.path])
    expectSafe(json.stdout)
    if (json.stdout !== "") expect(() => JSON.parse(json.stdout)).not.toThrow()
  })

  test("every tool of the protocol, every page, as text and as JSON", async () => {
    const { tools } = await client.listTools()
    const wanted: Record<string, unknown> = { query: "SELECT * FROM events", text: MARK, name: "request" }
    let asked = 0
    for (const { name, inputSchema } of tools) {
      const { properties = {}, required = [] } = inputSchema
      const given = Object.fromEntries(required.map((field) => [field, wanted[field] ?? "last~1"]))
      for (const id of "id" in properties ? ids : [undefined]) {
        for (const format of ["text", "json"]) {
          const args = { ...given, ...(id === undefined ? {} : { id }), format, budget: 8000 }
          for (let cursor: string | undefined, page = 0; page < 4; page++) {
            const { text } = await call(client, name, cursor === undefined ? args : { ...args, cursor })
            const { inside, outside } = fencesOf(text)
            const where = `${name} ${JSON.stringify(args)} page ${page}`
            expect(outside, where).not.toContain(MARK)
            expect(inside, where).not.toMatch(/[⟦⟧]/)
            expectSafe(text, where)
            asked++
            cursor = /cursor "([^"]+)"/.exec(outside)?.[1]
            if (cursor === undefined) break
          }
        }
      }
    }
    expect(asked).toBeGreaterThan(100)
  })
})

/** Line breaks and tabs are ours. */
function expectSafe(text: string, where?: string): void {
  const found = UNSAFE.exec(text.replaceAll(/[\n\t]/g, ""))
  expect(found === null ? null : text.slice(Math.max(0, found.index - 60), found.index + 20), where).toBeNull()
}

/** Text for people: recorded words stand in quotes, behind a bar, in a fence, or in the last cells of a row that begins with a number of ours. */
function expectQuoted(text: string): void {
  expectSafe(text)
  let isFenced = false
  for (const line of text.split("\n")) {
    if (/^⟦recorded [0-9a-f]{8}/.test(line)) isFenced = true
    if (/^⟦\/[0-9a-f]{8}⟧/.test(line)) isFenced = false
    const before = line.split(MARK)[0]!
    if (line.includes(MARK) && !isFenced) expect(before, line.slice(0, 300)).toMatch(/["│⟦]|(?:#\d+|run_\w{26}) .* $/)
  }
}
