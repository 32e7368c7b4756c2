import fc from "fast-check"
import { expect, test } from "vitest"
import { evaluateRun, liveGuard, readRun } from "../../src/index.js"
import { recordInMemory } from "../recorded.js"

const RULES = [{ id: "infra", type: "scope", rule: "paths.deny infra/**" }] as const

/** The verdicts about a run of shell calls: as the guard gave them, and as a check gives them later. */
async function judged(commands: readonly (string | { readonly command: string; readonly workdir: string })[]) {
  const live: string[] = []
  const guard = liveGuard(RULES, {}, { onDecision: (_, { decision }) => void live.push(decision) })
  const { recorder, recorded } = recordInMemory({ guard: (call) => guard(call) })
  const run = recorder.startRun({ entrypoint: "agent", input: "go" })
  for (const one of commands) {
    const args = typeof one === "string" ? { command: one } : one
    await run.tool({ name: "bash", args }, () => "done").catch(() => undefined)
  }
  run.complete()
  const { results } = evaluateRun(readRun(recorded()).run, RULES)
  return { live, later: results[0]!.status }
}

test("[E-01] a cd in one shell call counts for the next: what a kept shell would write there is a warning, live and later", async () => {
  expect(await judged(["cd infra", "rm a.tf"])).toEqual({ live: ["allow", "warn"], later: "warn" })
  expect(await judged(["cd deep/er", "cd ../../infra && ls", "echo x > main.tf"])).toMatchObject({ later: "warn" })
  expect(await judged(["pushd infra", "touch b"])).toMatchObject({ later: "warn" })
})

test("[E-01] a cd takes nothing back: what is forbidden from the root stays a breach", async () => {
  expect(await judged(["cd src", "rm infra/a.tf"])).toEqual({ live: ["allow", "block"], later: "fail" })
})

test("[E-01] a subshell, a folder the tool was given and a harmless cd leave no warning", async () => {
  expect(await judged(["(cd infra && ls)", "rm a.tf"])).toEqual({ live: ["allow", "allow"], later: "pass" })
  expect(await judged(["cd infra", { command: "rm a.tf", workdir: "src" }])).toMatchObject({ later: "pass" })
  expect(await judged(["cd src/app", "rm old.ts", "cd ..", "touch new.ts"])).toMatchObject({ later: "pass" })
})

test("[E-03] live and later agree whatever the calls before were", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom("cd infra", "cd ..", "cd src", "rm a", "rm infra/a", "(cd infra; rm b)", "touch x"), {
        maxLength: 6,
      }),
      async (commands) => {
        const { live, later } = await judged(commands)
        const worst = live.includes("block") ? "fail" : live.includes("warn") ? "warn" : "pass"
        if (commands.length > 0) expect(later).toBe(worst)
      },
    ),
    { numRuns: 60 },
  ))
