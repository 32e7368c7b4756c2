import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { readServeFile, standingKey } from "@orangebox/server"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { BIN, jsonOf, orangebox, type Scratch, scratchFolder } from "../command.js"
import { record, recordOrdinaryRun } from "../recorded-run.js"

interface Started {
  readonly process: ChildProcess
  readonly said: Record<string, unknown>
  end(): Promise<number | null>
}

/** The built command, as far as the line that says where it serves. */
async function start(...args: readonly string[]): Promise<Started> {
  const { ORANGEBOX_HOME: _home, ...env } = process.env
  const child = spawn(process.execPath, [BIN, ...args], { env, stdio: ["ignore", "pipe", "inherit"] })
  const [line] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string]
  return {
    process: child,
    said: JSON.parse(line) as Record<string, unknown>,
    async end() {
      child.kill("SIGINT")
      const [exitCode] = (await once(child, "close")) as [number | null]
      return exitCode
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}

describe("[O-03] orangebox ui and serve", () => {
  let scratch: Scratch
  beforeAll(async () => {
    scratch = scratchFolder()
    await record(scratch.path, async (recorder) => {
      await recordOrdinaryRun(recorder)
      await recordOrdinaryRun(recorder, "count them again")
    })
  })
  afterAll(() => scratch.remove())
  const api = async (path: string): Promise<Response> => {
    const { url, key } = readServeFile(scratch.path)!
    return fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } })
  }

  test("ui serves until Ctrl-C, a second one hands out an address of the first, and both lead to the key", async () => {
    const first = await start("ui", "last#3", "--no-open", "--json", "--data", scratch.path)
    try {
      expect(first.said).toMatchObject({ reused: false, pid: first.process.pid })
      expect(first.said["address"]).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/runs\/run_\w+\/3#k=[\w-]{43}$/)
      const second = jsonOf<{ address: string; reused: boolean; pid: number }>(
        await orangebox(["ui", "--no-open", "--json", "--data", scratch.path]),
      )
      expect(second).toMatchObject({ reused: true, pid: first.process.pid })
      for (const address of [String(first.said["address"]), second.address]) {
        const [page, code] = address.split("#k=") as [string, string]
        const session = await fetch(new URL("/api/v1/session", page), {
          method: "POST",
          body: JSON.stringify({ code }),
        })
        expect(await session.json()).toEqual({ key: readServeFile(scratch.path)!.key })
      }
      // What loads a run comes from another thread of the built command, refusals too.
      expect((await api("/runs/last/strata")).status).toBe(200)
      expect((await api("/runs/last/steps/99")).status).toBe(404)
      expect((await api("/runs/last/report")).headers.get("etag")).not.toBeNull()
    } finally {
      expect(await first.end()).toBe(0)
    }
    expect(existsSync(join(scratch.path, "serve.json"))).toBe(false)
  })

  test("two data folders are served beside each other: the second takes the next port that is free", async () => {
    const another = scratchFolder()
    await record(another.path, async (recorder) => void (await recordOrdinaryRun(recorder, "elsewhere")))
    const [first, second] = [
      await start("ui", "--no-open", "--json", "--data", scratch.path),
      await start("ui", "--no-open", "--json", "--data", another.path),
    ]
    try {
      expect(second.said).toMatchObject({ reused: false })
      expect(second.said["url"]).not.toBe(first.said["url"])
      // The key of one is nothing to the other.
      const { key } = readServeFile(scratch.path)!
      const asked = await fetch(`${second.said["url"]}/api/v1/runs`, { headers: { authorization: `Bearer ${key}` } })
      expect(asked.status).toBe(401)
    } finally {
      await Promise.all([first.end(), second.end()])
      another.remove()
    }
  })

  test("a file of a server that is gone leads nobody astray", async () => {
    const stale = { v: 1, pid: 1, url: "http://127.0.0.1:9", key: "x".repeat(43), version: "0" }
    writeFileSync(join(scratch.path, "serve.json"), JSON.stringify(stale), { mode: 0o600 })
    const started = await start("ui", "--no-open", "--json", "--data", scratch.path)
    expect(started.said).toMatchObject({ reused: false })
    expect(await started.end()).toBe(0)
  })

  test("serve collects meanwhile, at the port it was told", async () => {
    const port = String(await freePort())
    const started = await start("serve", "--json", "--port", port, "--data", scratch.path)
    try {
      expect(started.said).toEqual({ url: `http://127.0.0.1:${port}`, pid: started.process.pid })
      await record(scratch.path, async (recorder) => void (await recordOrdinaryRun(recorder, "while it serves")))
      await expect
        .poll(async () => JSON.stringify(await (await api("/runs?limit=1")).json()), { timeout: 10_000 })
        .toContain("while it serves")
      // Agents ask it too, with the key that stays.
      const client = new Client({ name: "test", version: "1" })
      const headers = { authorization: `Bearer ${standingKey(scratch.path)}` }
      const url = new URL(`http://127.0.0.1:${port}/mcp`)
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
      expect(JSON.stringify(await client.callTool({ name: "runs", arguments: {} }))).toContain("while it serves")
      await client.close()
      const taken = await orangebox(["serve", "--json", "--port", port, "--data", scratch.path])
      expect([taken.exitCode, taken.stderr]).toEqual([3, expect.stringContaining('"code":"PORT_TAKEN"')])
    } finally {
      expect(await started.end()).toBe(0)
    }
  })

  test("the key that stays is the same until it is rotated, and its file is for its owner alone", async () => {
    const env = async (): Promise<Record<string, string>> =>
      jsonOf(await orangebox(["serve", "--print-env", "--json", "--data", scratch.path]))
    const before = await env()
    expect(before["ORANGEBOX_MCP_URL"]).toBe("http://127.0.0.1:4747/mcp")
    expect(before["ORANGEBOX_MCP_AUTHORIZATION"]).toMatch(/^Bearer [\w-]{43}$/)
    expect(await env()).toEqual(before)
    expect(statSync(join(scratch.path, "serve-key")).mode & 0o777).toBe(0o600)
    expect((await orangebox(["serve", "--rotate-key", "--data", scratch.path])).exitCode).toBe(0)
    expect((await env())["ORANGEBOX_MCP_AUTHORIZATION"]).not.toBe(before["ORANGEBOX_MCP_AUTHORIZATION"])
  })

  test("ui of a folder with nothing in it and of a run that is not there says what to do", async () => {
    const nowhere = await orangebox(["ui", "--no-open", "--data", join(scratch.path, "nothing")])
    expect([nowhere.exitCode, nowhere.stderr]).toEqual([2, expect.stringContaining("there is no data folder here")])
    const noRun = await orangebox(["ui", "run_x", "--no-open", "--data", scratch.path])
    expect([noRun.exitCode, noRun.stdout]).toEqual([2, ""])
  })
})

describe("[O-12] orangebox export --html", () => {
  let scratch: Scratch
  beforeAll(async () => {
    scratch = scratchFolder()
    await record(scratch.path, async (recorder) => {
      await recordOrdinaryRun(recorder, `</script><script>alert(1)</script><!-- ${"\u202e"} javascript:alert(2)`)
    })
  })
  afterAll(() => scratch.remove())

  test("a run is one page that loads nothing and runs nothing but its own script, whatever was recorded", async () => {
    const file = join(scratch.path, "run.html")
    const exported = jsonOf<{ bytes: number; answers: number; bodies_left_out: number; run_id: string }>(
      await orangebox(["export", "last", "--html", file, "--json", "--data", scratch.path]),
    )
    const html = readFileSync(file, "utf8")
    expect(exported).toMatchObject({ bytes: Buffer.byteLength(html), bodies_left_out: 0 })
    const { text, answers } = answersIn(html)
    expect(Buffer.byteLength(html) - Buffer.byteLength(text)).toBeLessThanOrEqual(300_000)
    expect(Object.keys(answers)).toHaveLength(exported.answers)
    expect(Object.keys(answers)).toContain(`/runs/${exported.run_id}/strata`)
    // What was recorded stands in the page as data alone: it ends no element and opens none.
    expect(html).not.toContain("<script>alert(1)")
    expect(text).not.toContain("<")
    expect(html).not.toMatch(/<(?:script|link|img|iframe)[^>]+(?:src|href)="(?!data:,)/)
    expect(html).toMatch(/<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-/)
    const api = answers[`/runs/${exported.run_id}`] as { run: { input: string } }
    expect(api.run.input).toContain("</script><script>alert(1)</script>")
  })

  test("a run that is too large for a page is refused at once, with what to do", async () => {
    const large = scratchFolder()
    await record(large.path, async (recorder) => {
      const run = recorder.startRun({ entrypoint: "long", input: "many steps" })
      for (let n = 0; n < 5001; n++) run.step(`step ${n}`).end()
      run.complete({ output: "done" })
    })
    const file = join(large.path, "run.html")
    const refused = await orangebox(["export", "last", "--html", file, "--data", large.path])
    expect([refused.exitCode, existsSync(file)]).toEqual([2, false])
    expect(refused.stderr).toMatch(/too large for one page: 5002 steps, 5000 are the most[\s\S]*orangebox ui/)
    large.remove()
  })

  test("a file that is there is left alone, and what does not go with a page is refused", async () => {
    const file = join(scratch.path, "there.html")
    writeFileSync(file, "mine")
    const there = await orangebox(["export", "last", "--html", file, "--data", scratch.path])
    expect([there.exitCode, readFileSync(file, "utf8")]).toEqual([2, "mine"])
    const both = await orangebox(["export", "last", "--html", "a.html", "-o", "b.obxrun", "--data", scratch.path])
    expect(both.exitCode).toBe(2)
  })
})

function answersIn(html: string): { readonly text: string; readonly answers: Record<string, unknown> } {
  const [, text = ""] = /<script type="application\/json" id="answers"[^>]*>([\s\S]*?)<\/script>/.exec(html) ?? []
  return { text, answers: JSON.parse(text) as Record<string, unknown> }
}
