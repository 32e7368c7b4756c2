// Where to begin reading, against people's labels: the open shares of Who&When and TRAIL, where they are on this machine. Reported, bound to nothing.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { suspectsOf } from "@orangebox/query"
import { row } from "./measure.mjs"

export const title = "Where to begin reading, against labels"

const CORPORA = new URL("../../shared/corpora/", import.meta.url)

export async function run() {
  const algorithm = whoAndWhen("Algorithm-Generated/")
  const crafted = whoAndWhen("Hand-Crafted/")
  const trail = trailTraces()
  if (algorithm.length + crafted.length + trail.length === 0)
    return [row("the labelled corpora", "not on this machine")]
  return [...rowsOf("Who&When AG", algorithm), ...rowsOf("Who&When HC", crafted), ...rowsOf("TRAIL", trail)]
}

function rowsOf(name, cases) {
  if (cases.length === 0) return []
  const orders = {
    suspects: ({ steps, expected, end }) => suspectsOf(steps, { end, expected, isFailure: false }).map(({ n }) => n),
    "first three": ({ steps }) => steps.slice(0, 3).map(({ n }) => n),
    "first error, then on": ({ steps }) => {
      const first = Math.max(
        0,
        steps.findIndex(({ hasFailed }) => hasFailed),
      )
      return steps.slice(first, first + 3).map(({ n }) => n)
    },
    "last three": ({ steps }) =>
      steps
        .slice(-3)
        .reverse()
        .map(({ n }) => n),
    "last but one": ({ steps }) => [steps.at(-2), steps.at(-3), steps.at(-1)].flatMap((step) => step?.n ?? []),
    "a constant": constantFrom(cases),
  }
  return Object.entries(orders).map(([order, orderOf]) => {
    const sum = { first: 0, near: 0, three: 0, threeNear: 0, agent: 0 }
    for (const one of cases) {
      const order = orderOf(one)
      const isNear = (n) => one.labels.some((label) => Math.abs(label - n) <= 1)
      if (one.labels.includes(order[0])) sum.first++
      if (isNear(order[0])) sum.near++
      if (order.some((n) => one.labels.includes(n))) sum.three++
      if (order.some(isNear)) sum.threeNear++
      if (one.agent !== undefined && one.steps.find(({ n }) => n === order[0])?.who === one.agent) sum.agent++
    }
    const share = (count) => Math.round((100 * count) / cases.length)
    const agent = cases[0].agent === undefined ? "" : ` · agent ${share(sum.agent)}`
    return row(
      `${name}, n = ${cases.length}: ${order}`,
      `@1 ${share(sum.first)} (±1 ${share(sum.near)}) · @3 ${share(sum.three)} (±1 ${share(sum.threeNear)})${agent}`,
    )
  })
}

/** The three places that labels name most often, whatever the run: what a reading order has to beat. */
function constantFrom(cases) {
  const counts = new Map()
  for (const { labels } of cases) for (const n of labels) counts.set(n, (counts.get(n) ?? 0) + 1)
  const most = [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 3)
    .map(([n]) => n)
  return () => most
}

/** Decisions with what came of them: what a terminal printed belongs to whoever asked for it. */
function whoAndWhen(part) {
  return filesIn(`who-and-when/${part}`).map((text) => {
    const { history, mistake_step, mistake_agent, ground_truth } = JSON.parse(text)
    const steps = []
    history.forEach(({ name, role, content }, n) => {
      const who = name ?? role
      const said = content ?? ""
      if (who === "Computer_terminal") {
        const before = steps.at(-1)
        if (before) {
          before.got += said
          before.hasFailed ||= /exitcode: [1-9]/.test(said)
        }
        return
      }
      // Whoever plans and hands out work is not the one who does it.
      if (who === "human" || who.startsWith("Orchestrator")) return
      const hasFailed = name === undefined && /\b(?:error|404|not found|unable to|timed out)\b/i.test(said)
      steps.push({ n, who, said, got: "", hasFailed, acts: name === undefined || said.includes("```") })
    })
    return {
      steps,
      labels: [Number(mistake_step)],
      agent: mistake_agent,
      end: history.at(-1)?.content ?? "",
      expected: undefined,
      truth: ground_truth,
    }
  })
}

/** Model and tool spans in order of time; a label names a span. */
function trailTraces() {
  const labels = new Map()
  for (const part of ["gaia", "swe_bench"]) {
    for (const text of filesIn(`trail/processed_annotations_${part}/`)) {
      const { trace_id, errors } = parsed(text)
      labels.set(
        trace_id,
        errors.map(({ location }) => location),
      )
    }
  }
  const cases = []
  for (const text of [...filesIn("trail/data/GAIA/"), ...filesIn("trail/data/SWE Bench/")]) {
    const { trace_id, spans } = JSON.parse(text)
    const steps = []
    const visit = (span) => {
      const attributes = span.span_attributes ?? {}
      const kind = attributes["openinference.span.kind"]
      if (kind === "LLM") {
        const said = String(attributes["output.value"] ?? "")
        steps.push({
          id: span.span_id,
          at: span.timestamp,
          said,
          got: "",
          hasFailed: span.status_code === "Error",
          acts: /```|tool_calls/.test(said),
          ids: [span.span_id],
        })
      }
      if (kind === "TOOL") {
        const before = steps.at(-1)
        if (before) {
          before.ids.push(span.span_id)
          before.got += String(attributes["output.value"] ?? "")
          before.hasFailed ||= span.status_code === "Error"
          before.acts = true
        }
      }
      for (const child of [...(span.child_spans ?? [])].sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1)))
        visit(child)
    }
    for (const span of spans) visit(span)
    steps.forEach((step, n) => {
      step.n = n
    })
    const named = steps
      .filter(({ ids }) => (labels.get(trace_id) ?? []).some((id) => ids.includes(id)))
      .map(({ n }) => n)
    if (named.length > 0) cases.push({ steps, labels: named, agent: undefined, end: steps.at(-1)?.said ?? "" })
  }
  return cases
}

/** Some of the labels were written by hand, with commas behind their last items. */
const parsed = (text) => JSON.parse(text.replace(/,(\s*[\]}])/g, "$1"))

function filesIn(folder) {
  const at = new URL(folder, CORPORA)
  if (!existsSync(at)) return []
  return readdirSync(at).map((name) =>
    gunzipSync(readFileSync(new URL(encodeURIComponent(name), `${at.href}`))).toString("utf8"),
  )
}
