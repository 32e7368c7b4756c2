import { copyFileSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { orangebox, scratchFolder } from "./command.js"
import { answerMessage, startModelServer } from "./model-server.js"

const scratch = scratchFolder()
afterAll(() => scratch.remove())

/** Asks with a session of its own in a header, and writes so many lines. */
const AGENT = `
const response = await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages?beta=true", {
  method: "POST",
  headers: { "content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": process.env.KEY_OF_THIS_MACHINE },
  body: JSON.stringify({ model: "claude-x", max_tokens: 9, messages: [{ role: "user", content: "hello" }] }),
})
const { content } = await response.json()
for (let n = 0; n < Number(process.argv[1]); n++) console.log(n, content[0].text)
`

/** A home, a data folder and so a key of its own, and nothing of the other. */
function machine(name: string) {
  const at = (...parts: string[]): string => join(scratch.path, name, ...parts)
  mkdirSync(at("home"), { recursive: true })
  mkdirSync(at("work"))
  return {
    at,
    orangebox: (args: readonly string[], origin = "http://127.0.0.1:9", lines?: number) =>
      orangebox(
        [
          ...args,
          ...(lines === undefined ? [] : ["--", process.execPath, "--input-type=module", "-e", AGENT, String(lines)]),
        ],
        {
          cwd: at("work"),
          env: {
            HOME: at("home"),
            ORANGEBOX_HOME: at("data"),
            ANTHROPIC_BASE_URL: origin,
            KEY_OF_THIS_MACHINE: `sk-ant-api03-${name.repeat(12)}`,
          },
        },
      ),
  }
}

interface Replayed {
  readonly blocking: readonly object[]
  readonly certificate: {
    readonly scope: {
      readonly compared: readonly string[]
      readonly not_compared: readonly { readonly what: string }[]
    }
  } | null
}
const documentOf = (stderr: string): Replayed => JSON.parse(stderr.slice(stderr.indexOf("{\n"))) as Replayed

describe.each([
  { lines: 3, how: "what it wrote is compared by its bytes" },
  { lines: 60_000, how: "of more than a megabyte the digests are of two keys, and named as not compared" },
])("[O-10] a run of one machine on another: $how", ({ lines }) => {
  const here = machine(`here${lines}`)
  const there = machine(`there${lines}`)
  const file = there.at("run.obxrun")
  beforeAll(async () => {
    const model = await startModelServer((_, response) =>
      answerMessage(response, { id: "msg_1", content: [{ type: "text", text: "tick ".repeat(5) }] }),
    )
    await here.orangebox(["run", "--quiet"], model.origin, lines)
    await model.close()
    await here.orangebox(["export", "last", "-o", here.at("run.obxrun")])
    copyFileSync(here.at("run.obxrun"), file)
  })

  test("replays from the file and from where it was imported, with a certificate that holds there", async () => {
    const proof = there.at("proof.json")
    for (const address of [file, "last"]) {
      if (address === "last") expect((await there.orangebox(["import", file])).exitCode).toBe(0)
      const force = address === "last" ? ["--force"] : []
      const source = address === "last" ? await importedRun() : file
      const replayed = await there.orangebox(
        ["replay", source, "--json", "--certificate", proof, ...force],
        undefined,
        lines,
      )
      const { blocking, certificate } = documentOf(replayed.stderr)
      expect([replayed.exitCode, blocking]).toEqual([0, []])
      const isCompared = certificate!.scope.compared.includes("stdout")
      const isNamed = certificate!.scope.not_compared.some(({ what }) => what === "stdout")
      expect([isCompared, isNamed]).toEqual(lines < 100 ? [true, false] : [false, true])
      const checked = await there.orangebox(["verify", ...(address === file ? [file] : []), "--certificate", proof])
      expect([checked.exitCode, checked.stdout], checked.stderr).toEqual([0, expect.stringContaining(" holds")])
    }
  })

  test("and is another run there with another line", async () => {
    const replayed = await there.orangebox(["replay", file, "--json"], undefined, lines + 1)
    const { blocking } = documentOf(replayed.stderr)
    // How many lines it writes stands on its command line, which differs as well.
    const reason = lines < 100 ? /stdout differs: line 4/ : /stdout differs: \d+ bytes/
    expect(blocking).toContainEqual(expect.objectContaining({ reason: expect.stringMatching(reason) }))
  })

  const importedRun = async (): Promise<string> => {
    const { stdout } = await there.orangebox(["runs", "--json"])
    const { runs } = JSON.parse(stdout) as { runs: { run_id: string; imported: boolean }[] }
    return runs.find(({ imported }) => imported)!.run_id
  }
})
