import type { Event } from "@orangebox/contract"
import fc from "fast-check"
import { expect, test } from "vitest"
import {
  actionAhead,
  actionsOf,
  DecisionEvent,
  decisionLogRecords,
  decisionsOf,
  observabilityOf,
  reportHtml,
  reportMarkdown,
  reportText,
  runReport,
} from "../src/index.js"
import { fixerRun } from "./agent-runs.js"
import { recordInMemory } from "./recorded.js"

const junk = fc.oneof(
  fc.constantFrom<unknown>(null, undefined, -1, 1.5, "", "x", "sha256:x", [], {}, [null], { type: 1 }, true),
  fc.jsonValue(),
)

test("[D-01] events that break the contract are read as far as they go, and what comes out is still valid", async () => {
  const run = await fixerRun()
  await fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(run.events.length - 1), fc.nat(12), junk), { minLength: 1, maxLength: 6 }),
      (changes) => {
        const events = [...run.events]
        for (const [at, field, value] of changes) {
          const payload = events[at]!.payload as Record<string, unknown>
          const name = Object.keys(payload)[field]
          if (name !== undefined) events[at] = { ...events[at], payload: { ...payload, [name]: value } } as Event
        }
        for (const decision of decisionsOf({ ...run, events })) {
          expect(DecisionEvent.safeParse(decision).error).toBeUndefined()
        }
        const report = runReport({ ...run, events })
        for (const render of [reportText, reportMarkdown, reportHtml]) expect(render(report).length).toBeGreaterThan(0)
        observabilityOf({ ...run, events })
      },
    ),
    { numRuns: 50 },
  )
})

test.each([0.5, -1, 1e300, "many", null])(
  "[D-01] a request for %s tokens is no count, and the decision is still valid",
  (asked) => {
    const { recorder, recorded } = recordInMemory({ capture: "full" })
    const run = recorder.startRun({ entrypoint: "x", input: "x" })
    const request = { model: "m", max_tokens: asked, messages: [{ role: "user", content: "x" }] }
    const model = run.startModel({ provider: "anthropic", model: "m", request })
    model.endModel({ response: { role: "assistant", content: [{ type: "text", text: "y" }] } })
    run.complete()
    const [decision] = decisionsOf(recorded())
    expect(decision?.prompt_provenance.parameters.max_tokens).toBe(null)
  },
)

test("[D-01] bodies that are not what they should be are read as far as they go", async () => {
  const run = await fixerRun()
  const refs = [...new Set(run.events.flatMap((event) => event.artifact_refs.map((ref) => ref.artifact_hash)))]
  await fc.assert(
    fc.property(
      fc.constantFrom(...refs),
      fc.oneof(
        fc.uint8Array({ maxLength: 40 }),
        fc.json(),
        fc.constantFrom(
          '{"messages":[null,1,{"role":7}]}',
          "data: {\n\n",
          `${"[".repeat(5_000)}`,
          '{"content":{"a":1}}',
        ),
      ),
      (broken, body) => {
        const bodies = (ref: string) => (ref === broken ? body : run.bodies(ref))
        const decisions = decisionsOf({ ...run, bodies })
        for (const decision of decisions) expect(DecisionEvent.safeParse(decision).error).toBeUndefined()
        decisionLogRecords(decisions)
        observabilityOf({ ...run, bodies })
      },
    ),
    { numRuns: 50 },
  )
})

test("[E-03] the action a guard sees before a tool runs is the action that is read from the recording later", async () => {
  const calls: { name: string; args: unknown }[] = [
    { name: "Edit", args: { file_path: "src/a.ts", old_string: "a", new_string: "b" } },
    { name: "Bash", args: { command: "cd x && rm -rf y; curl https://example.com" } },
    { name: "apply_patch", args: "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch" },
    { name: "shell", args: { command: ["bash", "-lc", "npm test"] } },
    { name: "WebFetch", args: { url: "https://example.com" } },
    { name: "own", args: { where: "a", nested: { deep: [1, undefined] } } },
  ]
  const { recorder, recorded } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "t" })
  for (const call of calls) await run.tool(call, async () => undefined)
  run.complete()
  const tools = { own: { action: "edit", path: "where" } } as const
  const later = actionsOf(recorded(), { tools }).actions
  calls.forEach((call, at) => {
    const { type, paths, commands, edits, targets, tool, unread } = later[at]!
    const live = actionAhead({ ...call, stepId: later[at]!.stepId }, { tools })
    expect({ ...live.tool, status: "success" }).toEqual(tool)
    expect(live).toMatchObject({ type, paths, commands, edits, targets, unread })
  })
})
