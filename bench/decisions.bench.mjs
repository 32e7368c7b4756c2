// A long session of a coding agent, 10,000 steps in one run: read into actions, judged by ten rules, told as DecisionEvents, as a report.
import { decisionsOfReading, evaluateRun, readRun, reportHtml, runReport } from "@orangebox/decisions"
import { MemorySink, Recorder } from "@orangebox/recorder"
import { median, row } from "./measure.mjs"

export const title = "Decisions and checks of a run of 10,000 steps"

const RULES = [
  "paths.only src/** test/** !src/generated/**",
  "paths.deny infra/** **/*.pem",
  'commands.deny "git push" "rm -rf" sudo',
  "network.deny allow=packages.example.com",
  "secrets.none",
  "diff.max_lines 400 per=action",
  "tools.deny web_*",
  "output.no_emoji",
  "tests.must_pass",
  "steps.max 20000",
].map((rule, at) => ({ id: `rule-${at}`, type: "other", rule }))

export async function run() {
  const { sink, steps } = await longRun(10_000)
  const recorded = {
    events: sink.events.filter(({ run_id }) => run_id !== null),
    bodies: (ref) => sink.bodies.get(ref),
  }
  const bytes = [...sink.bodies.values()].reduce((sum, body) => sum + body.length, 0)
  const figures = { read: [], check: [], decide: [], both: [], report: [] }
  let decisions = 0
  for (let round = -1; round < 7; round++) {
    const start = performance.now()
    const reading = readRun(recorded)
    const afterRead = performance.now()
    const evaluation = evaluateRun(reading.run, RULES, { root: "/work", home: "/home/dev" })
    const afterCheck = performance.now()
    decisions = decisionsOfReading(reading, { evaluation }).length
    const afterDecisions = performance.now()
    reportHtml(runReport(recorded, { evaluation }))
    const afterReport = performance.now()
    if (round < 0) continue
    figures.read.push(afterRead - start)
    figures.check.push(afterCheck - afterRead)
    figures.decide.push(afterDecisions - afterCheck)
    figures.both.push(afterDecisions - start)
    figures.report.push(afterReport - afterDecisions)
  }
  const ms = (values) => `${median(values).toFixed(0)} ms`
  return [
    row("steps, events, bodies", `${steps}, ${recorded.events.length}, ${(bytes / 1e6).toFixed(0)} MB`),
    row("actions found", String(decisions)),
    row("reading the run into actions", ms(figures.read)),
    row("judging it by ten rules", ms(figures.check)),
    row("making the DecisionEvents", ms(figures.decide)),
    row("all three together", ms(figures.both), "< 2000 ms", median(figures.both) < 2000),
    row("all three together, fastest round", `${Math.min(...figures.both).toFixed(0)} ms`),
    row("the report as HTML, from the events again", ms(figures.report)),
  ]
}

/** Turns of a model call and two tools. Each request resends what was said, until the agent compacts it away. */
async function longRun(wanted) {
  const sink = new MemorySink()
  let ticks = 0
  const recorder = Recorder.open({
    app: "bench",
    cwd: "/",
    sink,
    capture: "full",
    allowFull: true,
    environment: "local",
    now: () => ({ wallMs: Date.UTC(2026, 0, 1) + ++ticks, monoUs: ticks * 1000 }),
  })
  const run = recorder.startRun({ entrypoint: "fix", input: "Fix the calendar" })
  let messages = [{ role: "user", content: "Fix the calendar" }]
  let steps = 1
  for (let turn = 0; steps + 4 <= wanted; turn++) {
    const step = run.step(`turn-${turn}`)
    const calls = [
      {
        type: "tool_use",
        id: `toolu_${turn}_0`,
        name: "Edit",
        input: {
          file_path: `src/file-${turn % 97}.ts`,
          old_string: `const a = ${turn}`,
          new_string: `const a = ${turn + 1}\n// ${turn}`,
        },
      },
      {
        type: "tool_use",
        id: `toolu_${turn}_1`,
        name: "Bash",
        input: {
          command:
            turn % 3 === 0 ? `npx vitest run test/${turn % 97}.test.ts` : `cd src && grep -rn "a${turn}" . | head -20`,
        },
      },
    ]
    const content = [{ type: "text", text: `I look at file ${turn % 97} and change it.` }, ...calls]
    const request = { model: "claude-x", max_tokens: 4096, messages }
    const reply = {
      id: `msg_${turn}`,
      type: "message",
      role: "assistant",
      content,
      stop_reason: "tool_use",
      usage: { input_tokens: 4000, output_tokens: 120 },
    }
    const model = step.startModel({ provider: "anthropic", model: "claude-x", request })
    model.endModel({ response: reply, finishReason: "tool_use", usage: { prompt: 4000, completion: 120 } })
    const results = []
    for (const { id, name, input } of calls) {
      const output =
        name === "Edit"
          ? "The file was changed."
          : ` Tests  ${turn % 20} passed (${turn % 20})\n${"line of output ".repeat(20)}`
      await step.tool({ name, args: input, callId: id }, () => output)
      results.push({ type: "tool_result", tool_use_id: id, content: output })
    }
    step.end()
    steps += 4
    messages =
      turn % 40 === 39
        ? messages.slice(0, 1)
        : [...messages, { role: "assistant", content }, { role: "user", content: results }]
  }
  run.complete({ output: "Done." })
  recorder.close()
  return { sink, steps }
}
