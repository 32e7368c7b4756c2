import { MASK_MIDDLE } from "@orangebox/contract"
import { createRuleset, explain } from "@orangebox/redaction"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { actionsOf, type CheckContext, type CheckedConstraint, evaluateRun, type RecordedRun } from "../../src/index.js"
import { recordInMemory } from "../recorded.js"

const RULES = [
  "paths.only src/** !src/generated/**",
  "paths.deny infra/** **/*.pem access=any",
  "output.json",
  'output.json {"type":"object","required":["summary"]}',
  "output.no_emoji",
  "output.max_chars 20",
  'commands.deny "git push" "rm -rf" sudo',
  'commands.allow "npm test" ls cat git echo',
  "secrets.none",
  "network.deny",
  "network.deny allow=api.github.com",
  "diff.max_lines 3",
  "diff.max_lines 2 per=action",
  "tests.must_run",
  "tests.must_run vitest after=edits",
  "tests.must_pass",
  "tools.deny web_* delete_*",
  "steps.max 5",
].map((rule, at): CheckedConstraint => ({ id: `rule-${at}`, type: "other", rule }))

const RULESET = createRuleset({ key: Buffer.alloc(32) })
const context: CheckContext = { root: "/work", home: "/home/dev", findSecrets: (text) => explain(text, RULESET) }

const path = fc.constantFrom("src/a.ts", "infra/x", "src/../infra/y", "src/generated/z", "/etc/k.pem", "")
const command = fc.constantFrom(
  ...["ls", "git push", "sudo npm test", "npm test", "cat infra/a", "echo a > infra/b", "rm -r -f src"],
  ...[
    "curl https://evil.example",
    "make check",
    "$CMD",
    "npx vitest run",
    "git status; git push",
    "sed -i s/a/b/ infra/c",
  ],
)
const text = fc.constantFrom("", "a", "a\nb\nc\nd\ne", "a\nb", "https://evil.example/x")
const result = fc.constantFrom(
  "ok",
  " Test Files  1 passed (1)\n      Tests  4 passed (4)",
  " Test Files  1 failed (1)\n      Tests  1 failed | 4 passed (5)",
  "Process exited with code 1",
  "The file was created",
)
const tool = fc.oneof(
  fc.record({ name: fc.constant("Bash"), args: fc.record({ command }), result }),
  fc.record({
    name: fc.constant("Edit"),
    args: fc.record({ file_path: path, old_string: text, new_string: text }),
    result,
  }),
  fc.record({ name: fc.constant("Write"), args: fc.record({ file_path: path, content: text }), result }),
  fc.record({
    name: fc.constant("apply_patch"),
    args: path.map((name) => ({ input: `*** Begin Patch\n*** Update File: ${name}\n@@\n-a\n+b\n+c\n*** End Patch\n` })),
    result,
  }),
  fc.record({ name: fc.constantFrom("web_fetch", "own"), args: fc.record({ url: text, path, note: text }), result }),
)
const output = fc.constantFrom("Done.", '{"summary":"x"}', '{"other":1}', "done 🙂", "it is a long story, this one", "")
const recording = fc.record({ tools: fc.array(tool, { maxLength: 6 }), output })

async function record({
  tools,
  output: said,
}: {
  tools: { name: string; args: object; result: string }[]
  output: string
}) {
  const { recorder, recorded } = recordInMemory({ capture: "full" })
  const run = recorder.startRun({ entrypoint: "x", input: "x" })
  for (const { name, args, result: given } of tools) await run.tool({ name, args }, () => given)
  run.complete({ output: said })
  return recorded()
}

/** One way in which text of a run is no longer what it was. */
const loss = fc.record({
  body: fc.nat(),
  how: fc.constantFrom("dropped", "masked"),
  leaf: fc.nat(),
  from: fc.double({ min: 0, max: 1, noNaN: true }),
  to: fc.double({ min: 0, max: 1, noNaN: true }),
})
type Loss = typeof loss extends fc.Arbitrary<infer T> ? T : never

function without(run: RecordedRun, losses: readonly Loss[]): RecordedRun {
  const refs = [...new Set(run.events.flatMap(({ artifact_refs }) => artifact_refs.map((ref) => ref.artifact_hash)))]
  const changed = new Map<string, string | undefined>()
  for (const one of losses) {
    const ref = refs[one.body % refs.length]
    if (ref === undefined) continue
    const bytes = run.bodies(ref)
    const kept = changed.has(ref) ? changed.get(ref) : bytes === undefined ? undefined : Buffer.from(bytes).toString()
    changed.set(ref, one.how === "dropped" || kept === undefined ? undefined : masked(kept, one))
  }
  return { ...run, bodies: (ref) => (changed.has(ref) ? changed.get(ref) : run.bodies(ref)) }
}

/** As a recorder masks: in one of the texts of a JSON value, or in a text that is none. */
function masked(body: string, { leaf, from, to }: Loss): string {
  const hide = (whole: string): string => {
    // A mask stands for something, and nothing is masked twice.
    if (whole === "" || whole.includes(MASK_MIDDLE)) return whole
    const start = Math.min(whole.length - 1, Math.round(Math.min(from, to) * whole.length))
    const end = Math.max(start + 1, Math.round(Math.max(from, to) * whole.length))
    return whole.slice(0, start) + MASK_MIDDLE + whole.slice(end)
  }
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return hide(body)
  }
  if (typeof value === "string") return JSON.stringify(hide(value))
  if (typeof value !== "object" || value === null) return body
  const keys = Object.entries(value).filter(([, item]) => typeof item === "string")
  const [key, item] = keys[leaf % Math.max(1, keys.length)] ?? []
  return key === undefined ? body : JSON.stringify({ ...value, [key]: hide(item as string) })
}

const statusesOf = (run: RecordedRun) => evaluateRun(actionsOf(run), RULES, context).results.map(({ status }) => status)

describe("[E-03] text that is masked or gone", () => {
  test("never turns a breach into a pass, nor a pass into a breach but where the mask is the evidence", async () => {
    await fc.assert(
      fc.asyncProperty(recording, fc.array(loss, { minLength: 1, maxLength: 4 }), async (made, losses) => {
        const run = await record(made)
        const before = statusesOf(run)
        const after = statusesOf(without(run, losses))
        for (const [at, { rule }] of RULES.entries()) {
          const is = `${rule}: ${before[at]}, then ${after[at]}`
          expect(is).not.toBe(`${rule}: fail, then pass`)
          expect(is).not.toBe(`${rule}: warn, then pass`)
          if (rule !== "secrets.none") expect(is).not.toBe(`${rule}: pass, then fail`)
        }
      }),
      { numRuns: 120 },
    )
  })

  const bash = (text: string) => ({ name: "Bash", args: { command: text }, result: "ok" })
  const edit = (file_path: string, new_string: string) => ({
    name: "Edit",
    args: { file_path, old_string: "a", new_string },
    result: "ok",
  })

  test.each([
    ["diff.max_lines 3", edit("src/a.ts", `key = ${MASK_MIDDLE}`), "unknown"],
    ["diff.max_lines 3", edit("src/a.ts", "b"), "pass"],
    ["paths.only src/**", edit("src/a.ts", `key = ${MASK_MIDDLE}`), "pass"],
    ["paths.only src/**", edit(`src/${MASK_MIDDLE}`, "b"), "unknown"],
    ["paths.only src/**", bash(`echo ${MASK_MIDDLE} > src/a`), "unknown"],
    ['commands.deny "git push"', bash(`export K=${MASK_MIDDLE}`), "unknown"],
    ['commands.deny "git push"', bash(`export K=${MASK_MIDDLE}; git push`), "fail"],
    ["commands.allow ls", bash(`l${MASK_MIDDLE}s`), "unknown"],
    ["network.deny", bash(`echo ${MASK_MIDDLE}`), "unknown"],
    ["network.deny", edit("src/a.ts", MASK_MIDDLE), "pass"],
    ["tests.must_pass", { ...bash("npm test"), result: `Tests  4 passed (4)\n${MASK_MIDDLE}` }, "unknown"],
  ])("%s of %j is %s", async (rule, made, expected) => {
    const run = await record({ tools: [made], output: "Done." })
    const judged = evaluateRun(actionsOf(run), [{ id: "c", type: "other", rule }], context)
    expect(judged.results[0]?.status).toBe(expected)
  })

  test("a long output is too long with a mask in it too, and a short one may have been longer", async () => {
    const judged = async (output: string) => {
      const run = await record({ tools: [], output })
      return evaluateRun(actionsOf(run), [{ id: "c", type: "other", rule: "output.max_chars 20" }], context).results[0]
        ?.status
    }
    expect(await judged(`${MASK_MIDDLE}${"x".repeat(20)}`)).toBe("fail")
    expect(await judged(`${MASK_MIDDLE}${"x".repeat(18)}`)).toBe("unknown")
    expect(await judged(MASK_MIDDLE)).toBe("unknown")
  })
})
