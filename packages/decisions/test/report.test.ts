import { createHash } from "node:crypto"
import fc from "fast-check"
import { expect, test } from "vitest"
import {
  actionsOf,
  evaluateRun,
  reportHtml,
  reportMarkdown,
  reportText,
  runReport,
  type Violation,
} from "../src/index.js"
import { answer, fixerRun, request } from "./agent-runs.js"
import { recordInMemory } from "./recorded.js"

const constraints = [
  { id: "tests", type: "other", rule: "tests.must_pass" },
  { id: "src", type: "scope", rule: "paths.only src/**" },
] as const

async function judgedReport() {
  const run = await fixerRun()
  return runReport(run, { evaluation: evaluateRun(actionsOf(run), constraints) })
}

test("[E-05] the report holds summary, violations with their places, timeline, artifacts and the state of the trail", async () => {
  const report = await judgedReport()
  expect(report.summary).toMatchObject({
    verdict: "fail",
    alignment: "fail",
    quality: "fail",
    decisions: 6,
    actions: { plan: 2, edit: 1, run_tests: 1, command: 1, message: 1 },
    model_calls: 2,
    // Nothing in the recording says it, so show and runs do not know it either.
    input_tokens: 824,
    files_changed: 1,
    lines_added: 2,
    lines_removed: 1,
    commands: 2,
    failed_commands: 1,
    test_runs: 1,
    last_test_outcome: "failed",
    violations: { fail: 1, warn: 0 },
    observability_failures: 0,
    bypasses: 0,
  })
  expect(report.violations).toMatchObject([{ id: "constraint.tests", count: 1, steps: [{ step_no: 6 }] }])
  expect(report.timeline.map(({ action_type, verdict, step_no }) => [step_no, action_type, verdict])).toEqual([
    [3, "plan", "unknown"],
    [4, "edit", "pass"],
    [5, "plan", "unknown"],
    [6, "run_tests", "fail"],
    [7, "command", "pass"],
    [1, "message", "unknown"],
  ])
  expect(report.artifacts.map(({ type, step_no }) => [type, step_no])).toEqual([
    ["file_edit", 4],
    ["command", 6],
    ["test_run", 6],
    ["command", 7],
    ["commit", 7],
  ])
  expect(JSON.parse(JSON.stringify(report))).toEqual(report)
})

test("[E-05] in a terminal the verdict comes first, then the figures, the violations and the timeline", async () => {
  const text = reportText(await judgedReport())
  expect(text).toMatch(/^✗ fail {2}run_/)
  expect(text).toContain("violations 1 fail, 0 warn")
  expect(text).toContain("✗ fail constraint.tests  #6")
  expect(text).toMatch(/✓ .* #4 {5}edit {6}Edit src\/date\.ts \+2 −1/)
})

test("[E-05] the Markdown report has the same in tables, and the diffs", async () => {
  const text = reportMarkdown(await judgedReport())
  expect(text).toContain("| fail | constraint.tests | 1 | #6 | tests failed&#58; Tests 1 failed")
  expect(text).toContain(
    "```diff\n--- a/src/date.ts\n+++ b/src/date.ts\n@@ -1,1 +1,2 @@\n-const d = 28\n+const d = 29\n",
  )
})

const HOSTILE = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "</style><style>*{display:none}</style>",
  '"><a href="javascript:alert(1)">click</a>',
  "\u001b]0;title\u0007\u001b[2J\u202egnp.exe\u2066\u200b",
  "![x](http://evil.example/x.png) [y](javascript:alert(1)) `code` | cell",
  "www.evil.example and _www.evil.example",
  "x".repeat(200_000),
  "\n\n# A heading of its own\n✗ fail  run_FAKE",
]

async function hostileRun() {
  const { recorder, recorded } = recordInMemory()
  const run = recorder.startRun({ entrypoint: HOSTILE[0]!, input: HOSTILE.join("\n"), agentId: HOSTILE[1]! })
  for (const [at, text] of HOSTILE.entries()) {
    await run.model(
      { provider: "anthropic", model: text.slice(0, 100), request: request([{ role: "user", content: text }]) },
      async () => answer(`m${at}`, text),
    )
    await run.tool(
      { name: "Write", args: { file_path: text.slice(0, 300), content: `${text}\n\`\`\`\n` } },
      async () => text,
    )
    await run.tool({ name: text.slice(0, 200), args: { command: text } }, async () => text)
  }
  run.complete({ output: HOSTILE.join("\n") })
  const report = runReport(recorded())
  const violations = HOSTILE.map((text) => {
    const violation: Violation = { id: text, severity: "warn", message: text, evidence: text, rule: text }
    return { ...violation, count: 3, steps: [] }
  })
  return { ...report, violations }
}

test("[E-05] recorded text in the HTML report is inert: no tag, no attribute, no address of its own, and a policy that forbids the rest", async () => {
  const html = reportHtml(await hostileRun())
  const tags = new Set([...html.matchAll(/<\/?([a-zA-Z!][a-zA-Z0-9]*)/g)].map(([, tag]) => tag!.toLowerCase()))
  const own =
    "!doctype html head meta title style body main header h1 h2 span div p b code section table thead tbody tr th td details summary pre"
  for (const tag of tags) expect(own.split(" ")).toContain(tag)
  const attributes = [...html.matchAll(/<[a-z][^>]*>/gi)].flatMap(([tag]) =>
    [...tag.matchAll(/ ([a-z-]+)(?==)/gi)].map(([, name]) => name),
  )
  expect([...new Set(attributes)].sort()).toEqual(["charset", "class", "content", "http-equiv", "lang", "name"])
  expect(html).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f\u202a-\u202e\u2066-\u2069\u200b]/)
  const style = /<style>([\s\S]*?)<\/style>/.exec(html)![1]!
  const digest = createHash("sha256").update(style).digest("base64")
  expect(html).toContain(
    `content="default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'"`,
  )
  expect(html.match(/<style>/g)).toHaveLength(1)
  expect(Math.max(...html.split("\n").map((line) => line.length))).toBeLessThan(400_000)
  expect(html).toContain("more characters")
})

test("[E-05] recorded text begins no line and sends no escape code in the terminal report", async () => {
  const text = reportText(await hostileRun(), { rows: 200 })
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u202a-\u202e\u2066-\u2069\u200b]/)
  for (const line of text.split("\n")) expect(line).not.toMatch(/^✗ fail {2}run_FAKE|^# A heading/)
  for (const line of text.split("\n")) expect(line.length).toBeLessThan(400)
})

test("[E-05] recorded text makes no link, picture, tag or heading in the Markdown report", async () => {
  const text = reportMarkdown(await hostileRun())
  const outside = text.replace(/^(`{3,})diff\n[\s\S]*?^\1$/gm, "").replace(/(`+) .*? \1/g, "")
  expect(outside).not.toMatch(/(?<!\\)!\[|(?<!\\)\]\(|<[a-z]|^# A heading|www\.|:\/\//im)
})

test("[E-05] any text at all leaves the HTML report well formed", async () => {
  const base = runReport(await fixerRun())
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
      const html = reportHtml({
        ...base,
        run: { ...base.run, request: text, agent_id: text },
        timeline: base.timeline.map((entry) => ({ ...entry, summary: text })),
        artifacts: base.artifacts.map((artifact) => ({ ...artifact, content: text, summary: text })),
      })
      expect(html.isWellFormed()).toBe(true)
      const opened = html.match(/<(span|div|td|tr|pre|details|code|p)\b/g)?.length
      const closed = html.match(/<\/(span|div|td|tr|pre|details|code|p)>/g)?.length
      expect(opened).toBe(closed)
    }),
    { numRuns: 60 },
  )
})

test("[E-05] a run that has not ended says so, and one with nothing in it still has a report", () => {
  const { recorder, recorded } = recordInMemory()
  recorder.startRun({ entrypoint: "watch", input: "look" })
  const report = runReport(recorded())
  expect(report.run.status).toBe("silent")
  expect(reportMarkdown(report)).toContain("still in progress")
  expect(reportHtml(report)).toContain("no decisions")
  expect(runReport({ events: [], bodies: () => undefined }).summary).toMatchObject({ verdict: "unknown", decisions: 0 })
})

test("[E-05] a constraint that was judged under another id, because its own was taken, is listed once", async () => {
  const { recorder, recorded } = recordInMemory()
  const own = { id: "scope", type: "scope", rule: "paths.only src/**" } as const
  const run = recorder.startRun({ entrypoint: "agent", input: "write", constraints: [own] })
  await run.tool({ name: "bash", args: { command: "echo x > notes.txt" } }, () => "")
  run.complete()
  const stricter = { id: "scope", type: "scope", rule: "paths.only src/a/**", source: "config" } as const
  const held = [stricter, { ...own, id: "scope.2", source: "api" }] as const
  const { constraints } = runReport(recorded(), { evaluation: evaluateRun(actionsOf(recorded()), held) }).run
  expect(constraints.map(({ id, rule }) => `${id}: ${rule}`)).toEqual([
    "scope: paths.only src/a/**",
    "scope.2: paths.only src/**",
  ])
})
