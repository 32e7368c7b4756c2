import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { type ScriptLine, shellAgent, startScriptedModel } from "./shell-agent.js"

interface Diffed {
  readonly verdict: string
  readonly root: number | null
  readonly first: number | null
  readonly outcome: { readonly fields: readonly string[]; readonly files: { readonly differing: unknown[] } | null }
  readonly items: readonly { readonly kind: string; readonly a: { readonly name: string } | null }[]
}

describe("[P-13] exit status, final output and files are outcome", () => {
  let scratch: Scratch
  let data: string
  beforeAll(() => {
    scratch = scratchFolder()
    data = join(scratch.path, "data")
  })
  afterAll(() => scratch.remove())

  const runIds = async (): Promise<string[]> =>
    jsonOf<{ runs: { run_id: string }[] }>(await orangeboxHere(["runs", "--json", "--data", data])).runs.map(
      ({ run_id }) => run_id,
    )

  /** A run in a repository of its own, all of them alike when they start. */
  async function recordIn(
    name: string,
    command: readonly string[],
    script: readonly ScriptLine[] = [],
  ): Promise<string> {
    const cwd = join(scratch.path, name)
    mkdirSync(cwd)
    writeFileSync(join(cwd, "a.txt"), "one\n")
    const date = "2026-01-01T00:00:00Z"
    for (const args of [
      ["init", "-q"],
      ["add", "."],
      ["commit", "-q", "-m", "first"],
    ]) {
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], {
        cwd,
        env: { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
      })
    }
    const model = await startScriptedModel(script, script.length > 0 ? data : undefined)
    try {
      await orangebox(["run", "--quiet", "--data", data, "--", ...command], {
        cwd,
        env: { ANTHROPIC_BASE_URL: model.origin },
      })
    } finally {
      await model.close()
    }
    return (await runIds())[0]!
  }
  const node = (code: string): string[] => [process.execPath, "-e", code]
  const diff = async (a: string, b: string): Promise<[Diffed, number | null, string]> => {
    const found = await orangeboxHere(["diff", a, b, "--data", data, "--json"])
    const { stdout } = await orangeboxHere(["diff", a, b, "--data", data])
    return [JSON.parse(found.stdout) as Diffed, found.exitCode, stdout]
  }

  test("[P-13] two commands that exit otherwise are not the same", async () => {
    const [three, four] = [
      await recordIn("three", node("process.exit(3)")),
      await recordIn("four", node("process.exit(4)")),
    ]
    const [found, exitCode, text] = await diff(three, four)
    expect([found.verdict, exitCode]).toEqual(["differs", 1])
    expect(found.outcome.fields).toEqual(["error", "exit"])
    expect(text).toContain('OUTCOME error CommandFailed "exit 3" -> CommandFailed "exit 4"')
  })

  test("[P-13] two runs that leave other files are not the same, and the outcome names the files", async () => {
    const [two, three] = [
      await recordIn("two", node(`require("node:fs").writeFileSync("a.txt", "two\\n")`)),
      await recordIn("other", node(`require("node:fs").writeFileSync("a.txt", "three\\n")`)),
    ]
    const [found, exitCode, text] = await diff(two, three)
    expect([found.verdict, exitCode, found.outcome.fields]).toEqual(["differs", 1, ["files"]])
    expect(found.outcome.files!.differing).toEqual([
      { path: "a.txt", a: expect.stringMatching(/^sha256:/), b: expect.stringMatching(/^sha256:/) },
    ])
    expect(text).toContain("OUTCOME files a.txt")
    const [same] = await diff(two, await recordIn("again", node(`require("node:fs").writeFileSync("a.txt", "two\\n")`)))
    expect([same.verdict, same.outcome.files]).toEqual(["same", { differing: [], more: 0 }])
  })

  test("[P-13] a look at the work tree is never the root, and a tool it found to have written is the decisive one", async () => {
    const start = ["cat a.txt", "ls"]
    const [one, other] = [
      await recordIn("look-a", shellAgent, [...start, "echo two >> a.txt", "true", { says: "done" }]),
      await recordIn("look-b", shellAgent, [...start, "echo b > b.txt; echo c > c.txt", "true", { says: "done" }]),
    ]
    const [found, , text] = await diff(one, other)
    expect(found.items.map(({ a }) => a?.name ?? "").filter((name) => /files? (?:changed|differ)/.test(name))).toEqual(
      [],
    )
    expect(text).toMatch(/^ROOT #\d+ model .* origin T1: calls bash with other arguments$/m)
    expect(text).toMatch(/^DECISIVE #\d+ tool bash \(write\)/m)
    expect(found.outcome.fields).toEqual(["files"])
  })
})
