import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { jsonOf, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { type Ending, recordEnding } from "./ending-agent.js"

interface Outcome {
  readonly verdict: string
  readonly outcome: { readonly fields: readonly string[] }
  readonly items: readonly { readonly fields: readonly string[]; readonly payloads: readonly unknown[] | null }[]
}

describe("[D4] a diff claims no difference between identical texts", () => {
  let scratch: Scratch
  let data: string
  const runs = new Map<Ending, string>()
  beforeAll(async () => {
    scratch = scratchFolder()
    data = join(scratch.path, "data")
    const endings = [
      "completes",
      "gives nothing",
      "tests pass",
      "killed",
      "killed in a tool",
      "throws",
      "fails",
    ] as const
    for (const ending of endings) runs.set(ending, await recordEnding(data, ending))
  })
  afterAll(() => scratch.remove())
  const diff = (a: Ending, b: Ending, ...args: string[]) =>
    orangeboxHere(["diff", runs.get(a)!, runs.get(b)!, "--data", data, ...args])

  test.each([
    ["completes", "killed", ["status"]],
    ["completes", "throws", ["status"]],
    ["completes", "fails", ["status", "error"]],
    ["killed", "completes", ["status"]],
    ["gives nothing", "killed", ["status"]],
    ["completes", "gives nothing", []],
  ] as const)(
    "a run that %s and one that %s, with the same words, differ in %j and in no output",
    async (a, b, fields) => {
      const found = jsonOf<Outcome>(await diff(a, b, "--json"))
      expect(found.outcome.fields).toEqual(expect.arrayContaining([...fields]))
      expect(found.outcome.fields).not.toContain("output")
      const { stdout } = await diff(a, b, "--all")
      for (const [, one, other] of stdout.matchAll(/("[^"]*") -> ("[^"]*")/g)) expect(one).not.toBe(other)
    },
  )

  test("what a step without an end would have given is not said to be nothing", async () => {
    const { stdout } = await diff("tests pass", "killed in a tool", "--all")
    expect(stdout).toMatch(/^FIRST #4 tool run_tests .*: success -> crashed$/m)
    expect(stdout).not.toContain("other result")
    const found = jsonOf<Outcome>(await diff("tests pass", "killed in a tool", "--json"))
    expect(found.items.flatMap(({ fields }) => fields)).toEqual(["status"])
  })
})
