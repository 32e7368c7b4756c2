import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { recordCommand } from "@orangebox/proxy"
import { keepRun } from "@orangebox/reader"
import { Recorder } from "@orangebox/recorder"
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest"
import { TapeDivergence, type Taped, withTape } from "../src/index.js"

/** Answers every question with its last word in capitals, and counts how often it was asked. */
function startModel(): Promise<{ server: Server; origin: string; asked: () => number }> {
  let asked = 0
  const server = createServer(async (request, response) => {
    asked += 1
    let body = ""
    for await (const piece of request) body += piece
    const { messages } = JSON.parse(body) as { messages: { content: string }[] }
    const text = messages.at(-1)!.content.split(" ").at(-1)!.toUpperCase()
    response.writeHead(200, { "content-type": "application/json" })
    response.end(
      JSON.stringify({
        ...{ id: "msg_1", type: "message", role: "assistant", model: "claude-x", stop_reason: "end_turn" },
        content: [{ type: "text", text }],
        usage: { input_tokens: 9, output_tokens: 2 },
      }),
    )
  })
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () =>
      resolve({ server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked }),
    ),
  )
}

const question = (text: string): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", "x-api-key": "none", "anthropic-version": "2023-06-01" },
  body: JSON.stringify({ model: "claude-x", max_tokens: 9, messages: [{ role: "user", content: text }] }),
})
const textOf = async (response: Response): Promise<string> =>
  ((await response.json()) as { content: { text: string }[] }).content[0]!.text

/** An agent that only knows a base URL: asks two questions, and builds the second on the first answer. */
async function wireAgent(baseUrl: string, first = "say door"): Promise<string> {
  const ask = async (text: string) => textOf(await fetch(`${baseUrl}/v1/messages`, question(text)))
  return ask(`and then ${await ask(first)}`)
}

/** An agent that records itself, with a tool that must not run in a test. */
async function recordingAgent(
  { recorder }: Pick<Taped, "recorder">,
  baseUrl: string,
  runTool: () => string,
): Promise<string> {
  const run = recorder.startRun({ entrypoint: "greet", input: "door" })
  const found = await run.tool({ name: "look", args: { at: "door" } }, runTool)
  const answer = await textOf(await run.fetch(`${baseUrl}/v1/messages`, question(`open ${found}`)))
  run.complete({ output: answer })
  return answer
}

describe("[K-13] a recorded run serves an agent in a test", () => {
  let folder: string
  let model: Awaited<ReturnType<typeof startModel>>
  const wire = () => join(folder, "wire.obxrun")
  const own = () => join(folder, "own.obxrun")
  const keep = async (data: string, path: string) =>
    writeFileSync(path, Buffer.concat([...(await keepRun({ data }, "last")).pieces]))

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "orangebox-testing-"))
    model = await startModel()
    const agent = `
      const ask = async (text) => (await (await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", {
        method: "POST", headers: { "content-type": "application/json", "x-api-key": "none", "anthropic-version": "2023-06-01" },
        body: JSON.stringify({ model: "claude-x", max_tokens: 9, messages: [{ role: "user", content: text }] }),
      })).json()).content[0].text
      await ask("and then " + await ask("say door"))
    `
    await recordCommand({
      command: [process.execPath, "--input-type=module", "-e", agent],
      folder: join(folder, "wire"),
      stdio: "ignore",
      env: { ...process.env, ANTHROPIC_BASE_URL: model.origin },
    })
    await keep(join(folder, "wire"), wire())
    const recorder = Recorder.open({ app: "greeter", folder: join(folder, "own") })
    await recordingAgent({ recorder }, model.origin, () => "the gate")
    recorder.close()
    await keep(join(folder, "own"), own())
  })
  afterAll(() => {
    model.server.close().closeAllConnections()
    rmSync(folder, { recursive: true, force: true })
  })
  afterEach(() => vi.unstubAllEnvs())

  test("an agent that only knows a base URL hears the recorded answers, and no server is asked", async () => {
    const before = model.asked()
    const said = await withTape(wire(), ({ env }) => wireAgent(env["ANTHROPIC_BASE_URL"]!))
    expect([said, model.asked()]).toEqual(["DOOR", before])
  })

  test("an agent that records itself has its tools answered too", async () => {
    const tool = vi.fn(() => "another gate")
    const said = await withTape(own(), (taped) => recordingAgent(taped, model.origin, tool))
    expect([said, tool.mock.calls.length]).toEqual(["GATE", 0])
  })

  test("another question fails with its pointer, the nearest call and what it was", async () => {
    const failed = withTape(wire(), ({ env }) => wireAgent(env["ANTHROPIC_BASE_URL"]!, "say roof"))
    await expect(failed).rejects.toThrow(TapeDivergence)
    await expect(failed).rejects.toThrow(/\/messages\/0\/content {2}recorded "say door" {2}now "say roof"/)
  })

  test("a question that is not asked any more fails, and so does one more", async () => {
    const less = withTape(wire(), async ({ env }) => {
      await fetch(`${env["ANTHROPIC_BASE_URL"]}/v1/messages`, question("say door"))
    })
    await expect(less).rejects.toThrow(/1 never asked for/)
    const more = withTape(wire(), async ({ env }) => {
      await wireAgent(env["ANTHROPIC_BASE_URL"]!)
      await fetch(`${env["ANTHROPIC_BASE_URL"]}/v1/messages`, question("say door"))
    })
    await expect(more).rejects.toThrow(/OCCURRENCE_EXHAUSTED/)
  })

  test("an agent that fails by itself fails with its own error", async () => {
    const failed = withTape(wire(), async ({ env }) => {
      await wireAgent(env["ANTHROPIC_BASE_URL"]!)
      throw new RangeError("no such door")
    })
    await expect(failed).rejects.toThrow(new RangeError("no such door"))
  })

  test("ORANGEBOX_UPDATE_TAPES records anew against the real model, and the file then serves the new questions", async () => {
    for (const [path, agent] of [
      [wire(), ({ env }: Taped) => wireAgent(env["ANTHROPIC_BASE_URL"]!, "say roof")],
      [own(), (taped: Taped) => recordingAgent(taped, model.origin, () => "the roof")],
    ] as const) {
      const before = readFileSync(path)
      vi.stubEnv("ORANGEBOX_UPDATE_TAPES", "1")
      vi.stubEnv("ANTHROPIC_BASE_URL", model.origin)
      const asked = model.asked()
      expect(await withTape(path, agent)).toBe("ROOF")
      expect(model.asked()).toBeGreaterThan(asked)
      expect(readFileSync(path).equals(before)).toBe(false)
      vi.unstubAllEnvs()
      const counted = model.asked()
      expect(await withTape(path, agent)).toBe("ROOF")
      expect(model.asked()).toBe(counted)
    }
  })

  test("a file that is none, and a run that could not serve, are refused in words", async () => {
    await expect(withTape(join(folder, "nothing.obxrun"), () => {})).rejects.toThrow(/nothing.obxrun/)
    const recorder = Recorder.open({ app: "hashed", folder: join(folder, "hashed"), capture: "hashed" })
    await recordingAgent({ recorder }, model.origin, () => "the gate")
    recorder.close()
    await expect(keepRun({ data: join(folder, "hashed") }, "last")).rejects.toThrow(
      /could not be answered from this run/,
    )
  })
})
