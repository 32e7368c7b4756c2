import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { readPortable, writePortable } from "@orangebox/replay"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { jsonOf, orangebox, orangeboxHere, scratchFolder } from "./command.js"
import { answerMessage, startModelServer } from "./model-server.js"
import { recordAgents } from "./two-runs.js"

const scratch = scratchFolder()
const at = (name: string): string => join(scratch.path, name)
afterAll(() => scratch.remove())

const digestOf = async (address: string, data: string): Promise<string> => {
  const { runs } = jsonOf<{ runs: { digest: string }[] }>(
    await orangeboxHere(["verify", address, "--json", "--data", data]),
  )
  return runs[0]!.digest
}

describe("[O-10] an exported run, imported elsewhere", () => {
  let runId: string
  beforeAll(async () => {
    ;[runId = ""] = await recordAgents(at("a"), { file: "retries: 17" })
    await orangeboxHere(["export", runId, "-o", at("run.obxrun"), "--data", at("a")])
  })

  test("is there with the same events, bytes and digest, and search and sql see it", async () => {
    const imported = await orangeboxHere(["import", at("run.obxrun"), "--data", at("b")])
    expect([imported.exitCode, imported.stderr]).toEqual([0, ""])
    expect(imported.stdout).toContain(`${runId} imported:`)
    const digest = await digestOf(runId, at("a"))
    const verified = await orangeboxHere(["verify", runId, "--digest", digest, "--data", at("b")])
    expect([verified.exitCode, verified.stdout.includes("! ")]).toEqual([0, false])
    const found = await orangeboxHere(["search", "retries 17", "--data", at("b")])
    expect(found.stdout).toContain(runId.slice(0, 20))
    const counted = await orangebox(["sql", "SELECT count(*) AS n FROM steps WHERE kind = 'tool'", "--data", at("b")])
    expect(counted.stdout).toContain("4")
    for (const body of ["args", "result"]) {
      const [there, here] = await Promise.all(
        ["a", "b"].map((data) => orangeboxHere(["step", `${runId}#4`, "--body", body, "--raw", "--data", at(data)])),
      )
      expect(here!.stdout).toBe(there!.stdout)
    }
    const { runs } = jsonOf<{ runs: { run_id: string; imported: boolean }[] }>(
      await orangeboxHere(["runs", "--json", "--data", at("b")]),
    )
    expect(runs).toMatchObject([{ run_id: runId, imported: true }])
    expect((await orangeboxHere(["runs", "--data", at("b")])).stdout).toContain("imported")
    expect((await orangeboxHere(["runs", "--data", at("a")])).stdout).not.toContain("imported")
  })

  test("is known when it comes again", async () => {
    const again = await orangeboxHere(["import", at("run.obxrun"), "--json", "--data", at("b")])
    expect(jsonOf<{ runs: object[] }>(again).runs).toMatchObject([{ run_id: runId, was_there: true }])
  })

  test("is refused with another digest, and nothing of it is taken", async () => {
    const { events, bodies } = await readPortable(readFileSync(at("run.obxrun")))
    const other = events.filter(({ event_type }) => event_type !== "final_output")
    writeFileSync(at("other.obxrun"), Buffer.concat([...writePortable(other, bodies)]))
    const before = await digestOf(runId, at("b"))
    const refused = await orangeboxHere(["import", at("other.obxrun"), "--data", at("b")])
    expect([refused.exitCode, refused.stdout]).toEqual([2, ""])
    expect(refused.stderr).toContain("the store has this run with other events")
    expect(await digestOf(runId, at("b"))).toBe(before)
  })

  test("is there again, with the same digest, when the database is gone, and the copy of its file goes when it is let go", async () => {
    await orangeboxHere(["import", at("run.obxrun"), "--data", at("lost")])
    const digest = await digestOf(runId, at("lost"))
    rmSync(join(at("lost"), "store"), { recursive: true })
    const found = await orangeboxHere(["verify", runId, "--digest", digest, "--data", at("lost")])
    expect(found.exitCode, found.stderr).toBe(0)
    expect((await orangeboxHere(["runs", "--data", at("lost")])).stdout).toContain("imported")
    expect((await orangeboxHere(["search", "retries 17", "--data", at("lost")])).stdout).toContain(runId.slice(0, 20))
    await orangeboxHere(["prune", "--journals", "--data", at("lost")])
    expect(existsSync(join(at("lost"), "imports"))).toBe(false)
  })

  test("does not come back when it was pruned, nor with a text that was taken out", async () => {
    await orangeboxHere(["import", at("run.obxrun"), "--data", at("pruned")])
    await orangeboxHere(["prune", "--max-age", "0s", "--data", at("pruned")])
    for (const _ of ["as it is", "rebuilt"]) {
      const runs = await orangeboxHere(["runs", "--json", "--data", at("pruned")])
      expect([runs.exitCode, runs.stderr, jsonOf<{ runs: object[] }>(runs).runs]).toEqual([0, "", []])
      rmSync(join(at("pruned"), "store", "trace.db"), { force: true })
    }
    await orangeboxHere(["import", at("run.obxrun"), "--data", at("redacted")])
    const redacted = await orangeboxHere(["redact", "--stored", "--value", "retries: 17", "--data", at("redacted")])
    expect(redacted.exitCode, redacted.stderr).toBe(0)
    expect(existsSync(join(at("redacted"), "imports"))).toBe(false)
  })

  test("a damaged file is not imported", async () => {
    writeFileSync(at("cut.obxrun"), readFileSync(at("run.obxrun")).subarray(0, -200))
    const refused = await orangeboxHere(["import", at("cut.obxrun"), "--data", at("c")])
    expect(refused.exitCode).toBe(2)
  })
})

const AGENT = `
const response = await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", {
  method: "POST",
  headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
  body: JSON.stringify({ model: "claude-x", max_tokens: 9, messages: [{ role: "user", content: "use " + process.env.TOKEN_TO_USE }] }),
})
console.log(response.status)
`
const agent = [process.execPath, "--input-type=module", "-e", AGENT]

describe("[O-10] a run with a secret in its prompt, in a file", () => {
  const secret = (word: string): string => `sk-ant-api03-${word.repeat(9)}-AAAA`
  const [mine, other] = [secret("Ab3dEf6hIj"), secret("Xy3dEf6hIj")]
  beforeAll(async () => {
    const model = await startModelServer((_, response) => answerMessage(response, { id: "msg_1", content: [] }))
    const env = { ANTHROPIC_BASE_URL: model.origin, TOKEN_TO_USE: mine }
    await orangebox(["run", "--quiet", "--data", at("secrets"), "--", ...agent], { env, cwd: scratch.path })
    await model.close()
    await orangeboxHere(["export", "last", "-o", at("plain.obxrun"), "--data", at("secrets")])
    await orangeboxHere(["export", "last", "-o", at("keyed.obxrun"), "--secret-key", "--data", at("secrets")])
    expect(readFileSync(at("keyed.obxrun"), "latin1")).not.toContain(mine)
  })
  const replay = (file: string, token: string, data = "elsewhere") =>
    orangebox(["replay", file, "--data", at(data), "--", ...agent], {
      cwd: scratch.path,
      env: { ANTHROPIC_BASE_URL: "http://127.0.0.1:9", TOKEN_TO_USE: token },
    })

  test("matches where it was recorded, also from the file", async () => {
    const { exitCode, stderr } = await replay(at("plain.obxrun"), mine, "secrets")
    expect([exitCode, stderr.includes("certificate: issued")]).toEqual([0, true])
  })

  test("elsewhere it says before it starts why it cannot match", async () => {
    const { exitCode, stdout, stderr } = await replay(at("plain.obxrun"), mine)
    expect([exitCode, stdout]).toEqual([2, ""])
    expect(stderr).toContain("masked under the key of the store it was recorded in")
    expect(stderr).toContain("--secret-key")
  })

  test("with the key in the file the same secret matches anywhere, another one does not", async () => {
    const same = await replay(at("keyed.obxrun"), mine)
    expect([same.exitCode, same.stdout, same.stderr.includes("certificate: issued")]).toEqual([0, "200\n", true])
    const changed = await replay(at("keyed.obxrun"), other)
    expect([changed.exitCode, changed.stdout]).toEqual([1, "422\n"])
  })

  test("and so it does when the file was imported", async () => {
    await orangeboxHere(["import", at("keyed.obxrun"), "--data", at("imported")])
    const { exitCode, stderr } = await replay("last", mine, "imported")
    expect([exitCode, stderr.includes("certificate: issued")], stderr).toEqual([0, true])
    await orangeboxHere(["import", at("plain.obxrun"), "--data", at("bare")])
    expect((await replay("last", mine, "bare")).exitCode).toBe(2)
  })
})
