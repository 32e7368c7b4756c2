import { writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished, test } from "vitest"
import { jsonOf, orangebox, scratchFolder } from "./command.js"
import { answerMessage, startModelServer } from "./model-server.js"

/** The two ways in which popular SDKs make a path of a base URL. */
const BOTH = `
const ask = (path) => fetch(process.env.ANTHROPIC_BASE_URL + path, { method: "POST", body: JSON.stringify({ model: "m", max_tokens: 1, messages: [] }) })
for (const path of ["/v1/messages", "/messages"]) console.log(path, (await ask(path)).status)
`
const script = (text: string): string[] => [process.execPath, "--input-type=module", "-e", text]

test("[K-12] with no variable set both ways to build a path reach the vendor, with one set the path is the client's own", async () => {
  const asked: string[] = []
  const vendor = await startModelServer((_, response, { url }) => {
    asked.push(url ?? "")
    response.writeHead(url === "/v1/messages" ? 200 : 404).end("{}")
  })
  onTestFinished(() => void vendor.close())
  const folder = scratchFolder()
  const config = join(folder.path, "user-config.json")
  writeFileSync(config, JSON.stringify({ upstreams: { anthropic: vendor.origin } }))
  const env = { ORANGEBOX_CONFIG: config }
  const command = ["run", "--data", folder.path, "--", ...script(BOTH)]
  expect((await orangebox(command, { env })).stdout).toBe("/v1/messages 200\n/messages 200\n")
  expect(asked.splice(0)).toEqual(["/v1/messages", "/v1/messages"])

  const own = await orangebox(command, { env: { ...env, ANTHROPIC_BASE_URL: vendor.origin } })
  expect(own.stdout).toBe("/v1/messages 200\n/messages 404\n")
  expect(asked).toEqual(["/v1/messages", "/messages"])
})

test("[K-12] run --port and proxy have the same address every time", async () => {
  const folder = scratchFolder()
  const port = await freePort()
  const addressOf = async (...options: string[]): Promise<string> =>
    (
      await orangebox([
        "run",
        ...options,
        "--data",
        folder.path,
        "--",
        ...script("console.log(process.env.OPENAI_BASE_URL)"),
      ])
    ).stdout.trim()
  const kept = await addressOf("--port", String(port))
  expect(new URL(kept).port).toBe(String(port))
  expect(await addressOf("--port", String(port))).toBe(kept)
  expect(new URL(await addressOf()).pathname).not.toBe(new URL(kept).pathname)

  const proxy = async (...options: string[]): Promise<{ origin: string; urls: Record<string, string> }> =>
    jsonOf(await orangebox(["proxy", "--json", ...options, "--data", folder.path], { stopAfter: /Ctrl-C ends it/ }))
  const first = await proxy()
  expect((await proxy()).urls).toEqual(first.urls)
  expect(`${(await proxy("--port", String(port))).urls["openai"]}/v1`).toBe(kept)

  const other = createServer().listen(Number(new URL(first.origin).port), "127.0.0.1")
  onTestFinished(() => void other.close())
  const moved = await orangebox(["proxy", "--json", "--data", folder.path], { stopAfter: /Ctrl-C ends it/ })
  expect(moved.stderr).toMatch(/port \d+ is taken, so the address is another one this time/)
  expect(moved.exitCode).toBe(0)
  expect((await orangebox(["run", "--port", "70000", "--", "true"])).stderr).toMatch(/must be a port/)
})

test("[K-12] a command that starts a known client says first what that needs, and again when nothing was captured", async () => {
  const folder = scratchFolder()
  const home = scratchFolder()
  const client = join(folder.path, "codex.js")
  writeFileSync(client, "")
  const { stderr } = await orangebox(["run", "--data", folder.path, "--", "node", client, "exec", "fix it"], {
    env: { HOME: home.path },
  })
  const line = `orangebox run -- sh -c 'exec node ${client} -c openai_base_url="$OPENAI_BASE_URL" "$@"' sh exec 'fix it'`
  expect(stderr.split(line)).toHaveLength(3)
})

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

test("[K-12] under run an agent that records itself is shown by its own run, which the last one names", async () => {
  const vendor = await startModelServer((_, response) =>
    answerMessage(response, { content: [{ type: "text", text: "Hi" }] }),
  )
  onTestFinished(() => void vendor.close())
  const folder = scratchFolder()
  const agent = fileURLToPath(new URL("../../proxy/test/children/instrumented.mjs", import.meta.url))
  const command = ["--data", folder.path, "--", process.execPath, agent, "quiet"]
  const env = { ANTHROPIC_BASE_URL: vendor.origin }
  const { stderr } = await orangebox(["run", ...command], { env })
  const [, own] = /1 recorded by the agent itself, in (run_\w+)/.exec(stderr) ?? []
  expect(stderr).toContain(`show      orangebox show ${own}`)
  expect(stderr).not.toMatch(/tokens +unknown/)
  const shown = await orangebox(["show", own!, "--data", folder.path])
  expect(shown.stdout).toMatch(new RegExp(`^${own} · agent · ask · completed .* · 1 model call`))
  // The last run is the command's, which replays; it names the agent's own.
  const last = await orangebox(["show", "last", "--data", folder.path])
  expect(last.stdout).toMatch(new RegExp(`spawned +${own}#1 ask`))
  const json = JSON.parse((await orangebox(["run", "--json", ...command], { env })).stderr) as Record<string, unknown>
  expect(json).toMatchObject({ model_calls: 0, linked_calls: 1, agent_run_id: expect.stringMatching(/^run_/) })
})
