import { join } from "node:path"
import { Recorder } from "@orangebox/recorder"
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest"
import { jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { answerMessage, startModelServer } from "./model-server.js"

let scratch: Scratch
let data: string
beforeEach(() => {
  scratch = scratchFolder()
  data = join(scratch.path, ".orangebox")
})
afterEach(() => scratch.remove())

const REQUEST = JSON.stringify({
  model: "claude-x",
  max_tokens: 9,
  system: "You are careful.",
  messages: [{ role: "user", content: "Is 2100 a leap year?" }],
})

/** The same call by an agent nobody instrumented, and by a program that records itself. */
const WAYS: readonly [string, (origin: string) => Promise<void>][] = [
  [
    "orangebox run --profile audit",
    async (origin) => {
      const agent = `
        const response = await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", {
          method: "POST", headers: { "content-type": "application/json" }, body: process.argv[1],
        })
        await response.text()`
      const command = [process.execPath, "--input-type=module", "-e", agent, REQUEST]
      const options = { cwd: scratch.path, env: { ANTHROPIC_BASE_URL: origin } }
      const ran = await orangebox(["run", "--profile", "audit", "--data", data, "--", ...command], options)
      expect(ran.exitCode).toBe(0)
    },
  ],
  [
    "step.fetch of a recorder with the audit profile",
    async (origin) => {
      const recorder = Recorder.open({ app: "own", folder: data, profile: "audit" })
      const run = recorder.startRun({ entrypoint: "ask", input: "leap years" })
      const response = await run.fetch(`${origin}/v1/messages`, { method: "POST", body: REQUEST })
      await response.text()
      run.complete()
      recorder.close()
    },
  ],
]

describe("[M-07] under audit a prompt nobody told of has a manifest, which our own reader reads", () => {
  test.each(WAYS)("%s", async (_, record) => {
    const server = await startModelServer((_body, response) =>
      answerMessage(response, { model: "claude-x", content: [{ type: "text", text: "No." }] }),
    )
    onTestFinished(() => server.close())
    await record(server.origin)

    const shown = (await orangeboxHere(["show", "last", "--all", "--data", data])).stdout
    expect(shown).toContain("context 2 in, ? left out")
    const n = /#(\d+) .*model claude-x/.exec(shown)?.[1]
    const text = (await orangeboxHere(["context", `last#${n}`, "--data", data])).stdout
    expect(text).toContain("2 items · ? left out · ≈ from its request")
    expect(text).not.toContain("unknown ")
    expect(text).not.toContain("0 left out")
    const json = jsonOf<Record<string, never>>(await orangeboxHere(["context", `last#${n}`, "--json", "--data", data]))
    expect(json).toMatchObject({ basis: "request", counts: { items: 2, excluded: null }, gaps: [], manifest: null })
    const decisions = (await orangeboxHere(["decisions", "last", "--json", "--data", data])).stdout
    expect(decisions).toContain("context read off the request: 2 items in, ? left out")
    expect(decisions).not.toContain("0 left out")
    const verified = await orangeboxHere(["verify", "last", "--data", data])
    expect(verified.stdout).toContain("0 findings")
    // Manifests only: nothing went wrong, so no word of it is kept.
    const rebuilt = await orangeboxHere(["context", `last#${n}`, "--rebuild", "--data", data])
    expect([rebuilt.exitCode, rebuilt.stdout]).toEqual([1, ""])
    expect(rebuilt.stderr).toContain("the request's body is not there: not kept")
  })
})
